package wasm

// A form says what follows an opcode.
type form byte

const (
	formUnknown  form = iota // the opcode isn't admitted
	formNone                 // nothing
	formBlock                // block type
	formElse                 // nothing, and it must belong to an if
	formEnd                  // nothing
	formIndex                // one index
	formIndices              // two indices
	formBrTable              // labels
	formSelect               // value types
	formRefType              // a reference type
	formMemory               // memory 0
	formMemories             // memory 0 twice
	formInit                 // an index, memory 0
	formI32                  // constants
	formI64
	formF32
	formF64
	formPrefixed // the rest of the opcode
	formAccess8  // alignment and offset, by the width of the access
	formAccess16
	formAccess32
	formAccess64
)

// An opInfo describes an opcode; fixed says whether pops and pushes are known.
type opInfo struct {
	name         string
	form         form
	pops, pushes uint8
	fixed        bool
}

// forms is what ops and prefixedOps say, in one place of few cache lines.
var forms, prefixedForms = func() (one, two [256]form) {
	for i := range ops {
		one[i] = ops[i].form
	}
	one[prefix] = formPrefixed
	for i := range prefixedOps {
		two[i] = prefixedOps[i].form
	}
	return one, two
}()

// ops are the opcodes of one byte.
var ops = [256]opInfo{
	OpUnreachable:       {"unreachable", formNone, 0, 0, false},
	OpNop:               {"nop", formNone, 0, 0, true},
	OpBlock:             {"block", formBlock, 0, 0, false},
	OpLoop:              {"loop", formBlock, 0, 0, false},
	OpIf:                {"if", formBlock, 0, 0, false},
	OpElse:              {"else", formElse, 0, 0, false},
	OpEnd:               {"end", formEnd, 0, 0, false},
	OpBr:                {"br", formIndex, 0, 0, false},
	OpBrIf:              {"br_if", formIndex, 0, 0, false},
	OpBrTable:           {"br_table", formBrTable, 0, 0, false},
	OpReturn:            {"return", formNone, 0, 0, false},
	OpCall:              {"call", formIndex, 0, 0, false},
	OpCallIndirect:      {"call_indirect", formIndices, 0, 0, false},
	OpDrop:              {"drop", formNone, 1, 0, true},
	OpSelect:            {"select", formNone, 3, 1, true},
	OpSelectT:           {"select", formSelect, 3, 1, true},
	OpLocalGet:          {"local.get", formIndex, 0, 1, true},
	OpLocalSet:          {"local.set", formIndex, 1, 0, true},
	OpLocalTee:          {"local.tee", formIndex, 1, 1, true},
	OpGlobalGet:         {"global.get", formIndex, 0, 1, true},
	OpGlobalSet:         {"global.set", formIndex, 1, 0, true},
	OpTableGet:          {"table.get", formIndex, 1, 1, true},
	OpTableSet:          {"table.set", formIndex, 2, 0, true},
	OpI32Load:           {"i32.load", formAccess32, 1, 1, true},
	OpI64Load:           {"i64.load", formAccess64, 1, 1, true},
	OpF32Load:           {"f32.load", formAccess32, 1, 1, true},
	OpF64Load:           {"f64.load", formAccess64, 1, 1, true},
	OpI32Load8S:         {"i32.load8_s", formAccess8, 1, 1, true},
	OpI32Load8U:         {"i32.load8_u", formAccess8, 1, 1, true},
	OpI32Load16S:        {"i32.load16_s", formAccess16, 1, 1, true},
	OpI32Load16U:        {"i32.load16_u", formAccess16, 1, 1, true},
	OpI64Load8S:         {"i64.load8_s", formAccess8, 1, 1, true},
	OpI64Load8U:         {"i64.load8_u", formAccess8, 1, 1, true},
	OpI64Load16S:        {"i64.load16_s", formAccess16, 1, 1, true},
	OpI64Load16U:        {"i64.load16_u", formAccess16, 1, 1, true},
	OpI64Load32S:        {"i64.load32_s", formAccess32, 1, 1, true},
	OpI64Load32U:        {"i64.load32_u", formAccess32, 1, 1, true},
	OpI32Store:          {"i32.store", formAccess32, 2, 0, true},
	OpI64Store:          {"i64.store", formAccess64, 2, 0, true},
	OpF32Store:          {"f32.store", formAccess32, 2, 0, true},
	OpF64Store:          {"f64.store", formAccess64, 2, 0, true},
	OpI32Store8:         {"i32.store8", formAccess8, 2, 0, true},
	OpI32Store16:        {"i32.store16", formAccess16, 2, 0, true},
	OpI64Store8:         {"i64.store8", formAccess8, 2, 0, true},
	OpI64Store16:        {"i64.store16", formAccess16, 2, 0, true},
	OpI64Store32:        {"i64.store32", formAccess32, 2, 0, true},
	OpMemorySize:        {"memory.size", formMemory, 0, 1, true},
	OpMemoryGrow:        {"memory.grow", formMemory, 1, 1, true},
	OpI32Const:          {"i32.const", formI32, 0, 1, true},
	OpI64Const:          {"i64.const", formI64, 0, 1, true},
	OpF32Const:          {"f32.const", formF32, 0, 1, true},
	OpF64Const:          {"f64.const", formF64, 0, 1, true},
	OpI32Eqz:            {"i32.eqz", formNone, 1, 1, true},
	OpI32Eq:             {"i32.eq", formNone, 2, 1, true},
	OpI32Ne:             {"i32.ne", formNone, 2, 1, true},
	OpI32LtS:            {"i32.lt_s", formNone, 2, 1, true},
	OpI32LtU:            {"i32.lt_u", formNone, 2, 1, true},
	OpI32GtS:            {"i32.gt_s", formNone, 2, 1, true},
	OpI32GtU:            {"i32.gt_u", formNone, 2, 1, true},
	OpI32LeS:            {"i32.le_s", formNone, 2, 1, true},
	OpI32LeU:            {"i32.le_u", formNone, 2, 1, true},
	OpI32GeS:            {"i32.ge_s", formNone, 2, 1, true},
	OpI32GeU:            {"i32.ge_u", formNone, 2, 1, true},
	OpI64Eqz:            {"i64.eqz", formNone, 1, 1, true},
	OpI64Eq:             {"i64.eq", formNone, 2, 1, true},
	OpI64Ne:             {"i64.ne", formNone, 2, 1, true},
	OpI64LtS:            {"i64.lt_s", formNone, 2, 1, true},
	OpI64LtU:            {"i64.lt_u", formNone, 2, 1, true},
	OpI64GtS:            {"i64.gt_s", formNone, 2, 1, true},
	OpI64GtU:            {"i64.gt_u", formNone, 2, 1, true},
	OpI64LeS:            {"i64.le_s", formNone, 2, 1, true},
	OpI64LeU:            {"i64.le_u", formNone, 2, 1, true},
	OpI64GeS:            {"i64.ge_s", formNone, 2, 1, true},
	OpI64GeU:            {"i64.ge_u", formNone, 2, 1, true},
	OpF32Eq:             {"f32.eq", formNone, 2, 1, true},
	OpF32Ne:             {"f32.ne", formNone, 2, 1, true},
	OpF32Lt:             {"f32.lt", formNone, 2, 1, true},
	OpF32Gt:             {"f32.gt", formNone, 2, 1, true},
	OpF32Le:             {"f32.le", formNone, 2, 1, true},
	OpF32Ge:             {"f32.ge", formNone, 2, 1, true},
	OpF64Eq:             {"f64.eq", formNone, 2, 1, true},
	OpF64Ne:             {"f64.ne", formNone, 2, 1, true},
	OpF64Lt:             {"f64.lt", formNone, 2, 1, true},
	OpF64Gt:             {"f64.gt", formNone, 2, 1, true},
	OpF64Le:             {"f64.le", formNone, 2, 1, true},
	OpF64Ge:             {"f64.ge", formNone, 2, 1, true},
	OpI32Clz:            {"i32.clz", formNone, 1, 1, true},
	OpI32Ctz:            {"i32.ctz", formNone, 1, 1, true},
	OpI32Popcnt:         {"i32.popcnt", formNone, 1, 1, true},
	OpI32Add:            {"i32.add", formNone, 2, 1, true},
	OpI32Sub:            {"i32.sub", formNone, 2, 1, true},
	OpI32Mul:            {"i32.mul", formNone, 2, 1, true},
	OpI32DivS:           {"i32.div_s", formNone, 2, 1, true},
	OpI32DivU:           {"i32.div_u", formNone, 2, 1, true},
	OpI32RemS:           {"i32.rem_s", formNone, 2, 1, true},
	OpI32RemU:           {"i32.rem_u", formNone, 2, 1, true},
	OpI32And:            {"i32.and", formNone, 2, 1, true},
	OpI32Or:             {"i32.or", formNone, 2, 1, true},
	OpI32Xor:            {"i32.xor", formNone, 2, 1, true},
	OpI32Shl:            {"i32.shl", formNone, 2, 1, true},
	OpI32ShrS:           {"i32.shr_s", formNone, 2, 1, true},
	OpI32ShrU:           {"i32.shr_u", formNone, 2, 1, true},
	OpI32Rotl:           {"i32.rotl", formNone, 2, 1, true},
	OpI32Rotr:           {"i32.rotr", formNone, 2, 1, true},
	OpI64Clz:            {"i64.clz", formNone, 1, 1, true},
	OpI64Ctz:            {"i64.ctz", formNone, 1, 1, true},
	OpI64Popcnt:         {"i64.popcnt", formNone, 1, 1, true},
	OpI64Add:            {"i64.add", formNone, 2, 1, true},
	OpI64Sub:            {"i64.sub", formNone, 2, 1, true},
	OpI64Mul:            {"i64.mul", formNone, 2, 1, true},
	OpI64DivS:           {"i64.div_s", formNone, 2, 1, true},
	OpI64DivU:           {"i64.div_u", formNone, 2, 1, true},
	OpI64RemS:           {"i64.rem_s", formNone, 2, 1, true},
	OpI64RemU:           {"i64.rem_u", formNone, 2, 1, true},
	OpI64And:            {"i64.and", formNone, 2, 1, true},
	OpI64Or:             {"i64.or", formNone, 2, 1, true},
	OpI64Xor:            {"i64.xor", formNone, 2, 1, true},
	OpI64Shl:            {"i64.shl", formNone, 2, 1, true},
	OpI64ShrS:           {"i64.shr_s", formNone, 2, 1, true},
	OpI64ShrU:           {"i64.shr_u", formNone, 2, 1, true},
	OpI64Rotl:           {"i64.rotl", formNone, 2, 1, true},
	OpI64Rotr:           {"i64.rotr", formNone, 2, 1, true},
	OpF32Abs:            {"f32.abs", formNone, 1, 1, true},
	OpF32Neg:            {"f32.neg", formNone, 1, 1, true},
	OpF32Ceil:           {"f32.ceil", formNone, 1, 1, true},
	OpF32Floor:          {"f32.floor", formNone, 1, 1, true},
	OpF32Trunc:          {"f32.trunc", formNone, 1, 1, true},
	OpF32Nearest:        {"f32.nearest", formNone, 1, 1, true},
	OpF32Sqrt:           {"f32.sqrt", formNone, 1, 1, true},
	OpF32Add:            {"f32.add", formNone, 2, 1, true},
	OpF32Sub:            {"f32.sub", formNone, 2, 1, true},
	OpF32Mul:            {"f32.mul", formNone, 2, 1, true},
	OpF32Div:            {"f32.div", formNone, 2, 1, true},
	OpF32Min:            {"f32.min", formNone, 2, 1, true},
	OpF32Max:            {"f32.max", formNone, 2, 1, true},
	OpF32Copysign:       {"f32.copysign", formNone, 2, 1, true},
	OpF64Abs:            {"f64.abs", formNone, 1, 1, true},
	OpF64Neg:            {"f64.neg", formNone, 1, 1, true},
	OpF64Ceil:           {"f64.ceil", formNone, 1, 1, true},
	OpF64Floor:          {"f64.floor", formNone, 1, 1, true},
	OpF64Trunc:          {"f64.trunc", formNone, 1, 1, true},
	OpF64Nearest:        {"f64.nearest", formNone, 1, 1, true},
	OpF64Sqrt:           {"f64.sqrt", formNone, 1, 1, true},
	OpF64Add:            {"f64.add", formNone, 2, 1, true},
	OpF64Sub:            {"f64.sub", formNone, 2, 1, true},
	OpF64Mul:            {"f64.mul", formNone, 2, 1, true},
	OpF64Div:            {"f64.div", formNone, 2, 1, true},
	OpF64Min:            {"f64.min", formNone, 2, 1, true},
	OpF64Max:            {"f64.max", formNone, 2, 1, true},
	OpF64Copysign:       {"f64.copysign", formNone, 2, 1, true},
	OpI32WrapI64:        {"i32.wrap_i64", formNone, 1, 1, true},
	OpI32TruncF32S:      {"i32.trunc_f32_s", formNone, 1, 1, true},
	OpI32TruncF32U:      {"i32.trunc_f32_u", formNone, 1, 1, true},
	OpI32TruncF64S:      {"i32.trunc_f64_s", formNone, 1, 1, true},
	OpI32TruncF64U:      {"i32.trunc_f64_u", formNone, 1, 1, true},
	OpI64ExtendI32S:     {"i64.extend_i32_s", formNone, 1, 1, true},
	OpI64ExtendI32U:     {"i64.extend_i32_u", formNone, 1, 1, true},
	OpI64TruncF32S:      {"i64.trunc_f32_s", formNone, 1, 1, true},
	OpI64TruncF32U:      {"i64.trunc_f32_u", formNone, 1, 1, true},
	OpI64TruncF64S:      {"i64.trunc_f64_s", formNone, 1, 1, true},
	OpI64TruncF64U:      {"i64.trunc_f64_u", formNone, 1, 1, true},
	OpF32ConvertI32S:    {"f32.convert_i32_s", formNone, 1, 1, true},
	OpF32ConvertI32U:    {"f32.convert_i32_u", formNone, 1, 1, true},
	OpF32ConvertI64S:    {"f32.convert_i64_s", formNone, 1, 1, true},
	OpF32ConvertI64U:    {"f32.convert_i64_u", formNone, 1, 1, true},
	OpF32DemoteF64:      {"f32.demote_f64", formNone, 1, 1, true},
	OpF64ConvertI32S:    {"f64.convert_i32_s", formNone, 1, 1, true},
	OpF64ConvertI32U:    {"f64.convert_i32_u", formNone, 1, 1, true},
	OpF64ConvertI64S:    {"f64.convert_i64_s", formNone, 1, 1, true},
	OpF64ConvertI64U:    {"f64.convert_i64_u", formNone, 1, 1, true},
	OpF64PromoteF32:     {"f64.promote_f32", formNone, 1, 1, true},
	OpI32ReinterpretF32: {"i32.reinterpret_f32", formNone, 1, 1, true},
	OpI64ReinterpretF64: {"i64.reinterpret_f64", formNone, 1, 1, true},
	OpF32ReinterpretI32: {"f32.reinterpret_i32", formNone, 1, 1, true},
	OpF64ReinterpretI64: {"f64.reinterpret_i64", formNone, 1, 1, true},
	OpI32Extend8S:       {"i32.extend8_s", formNone, 1, 1, true},
	OpI32Extend16S:      {"i32.extend16_s", formNone, 1, 1, true},
	OpI64Extend8S:       {"i64.extend8_s", formNone, 1, 1, true},
	OpI64Extend16S:      {"i64.extend16_s", formNone, 1, 1, true},
	OpI64Extend32S:      {"i64.extend32_s", formNone, 1, 1, true},
	OpRefNull:           {"ref.null", formRefType, 0, 1, true},
	OpRefIsNull:         {"ref.is_null", formNone, 1, 1, true},
	OpRefFunc:           {"ref.func", formIndex, 0, 1, true},
}

// prefixedOps are the opcodes behind the prefix.
var prefixedOps = [...]opInfo{
	OpI32TruncSatF32S & 0xff: {"i32.trunc_sat_f32_s", formNone, 1, 1, true},
	OpI32TruncSatF32U & 0xff: {"i32.trunc_sat_f32_u", formNone, 1, 1, true},
	OpI32TruncSatF64S & 0xff: {"i32.trunc_sat_f64_s", formNone, 1, 1, true},
	OpI32TruncSatF64U & 0xff: {"i32.trunc_sat_f64_u", formNone, 1, 1, true},
	OpI64TruncSatF32S & 0xff: {"i64.trunc_sat_f32_s", formNone, 1, 1, true},
	OpI64TruncSatF32U & 0xff: {"i64.trunc_sat_f32_u", formNone, 1, 1, true},
	OpI64TruncSatF64S & 0xff: {"i64.trunc_sat_f64_s", formNone, 1, 1, true},
	OpI64TruncSatF64U & 0xff: {"i64.trunc_sat_f64_u", formNone, 1, 1, true},
	OpMemoryInit & 0xff:      {"memory.init", formInit, 3, 0, true},
	OpDataDrop & 0xff:        {"data.drop", formIndex, 0, 0, true},
	OpMemoryCopy & 0xff:      {"memory.copy", formMemories, 3, 0, true},
	OpMemoryFill & 0xff:      {"memory.fill", formMemory, 3, 0, true},
	OpTableInit & 0xff:       {"table.init", formIndices, 3, 0, true},
	OpElemDrop & 0xff:        {"elem.drop", formIndex, 0, 0, true},
	OpTableCopy & 0xff:       {"table.copy", formIndices, 3, 0, true},
	OpTableGrow & 0xff:       {"table.grow", formIndex, 2, 1, true},
	OpTableSize & 0xff:       {"table.size", formIndex, 0, 1, true},
	OpTableFill & 0xff:       {"table.fill", formIndex, 3, 0, true},
}
