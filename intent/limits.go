package intent

// Limits of what this package decodes and validates. They are part of the
// rules of a pack: raising one changes which plans have a value.
const (
	MaxPlanBytes      = 1 << 20   // a plan's JSON as the solver wrote it
	MaxInteractions   = 64        // calls of one plan
	MaxCallDataBytes  = 128 << 10 // calldata of one interaction, decoded
	MaxPlanCallData   = 512 << 10 // calldata of a whole plan, decoded, in bytes
	MaxMetadataBytes  = 64 << 10  // plan.metadata as canonical JSON
	MaxMetadataDepth  = 16        // nesting of plan.metadata, itself counted
	MaxValueBits      = 128       // an interaction's wei value is below 2^128
	MaxAnswerBytes    = 1 << 20   // JSON of a quote, of a solver's metadata
	MaxTriggerBytes   = 1 << 10   // JSON of a trigger answer
	MaxDocumentBytes  = 16 << 20  // any other document
	MaxDepth          = 64        // nesting of any document
	MaxNumberBytes    = 64        // text of one JSON number
	MaxSafeInteger    = 1<<53 - 1 // largest JSON integer every reader agrees on
	MaxVersionBytes   = 64        // text of a semantic version
	MaxQuotedRunes    = 200       // text from guests and chains, when printed
	maxQuotedKeyRunes = 40        // one key inside the path of an error
	maxPathRunes      = 200       // the whole path of an error
)

// FuelPerGas is what a unit of EVM gas that a guest's chain read spends costs it in
// fuel, besides what the sandbox charges for the call and its bytes. It belongs to the
// cost table.
const FuelPerGas = 25
