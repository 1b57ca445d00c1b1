// Package intent holds the nouns of the solver API: what a user wants (a
// [Definition] and a [State]), what a solver answers (a [Plan], a [Quote],
// [Metadata]), and the ways a row can end without value (a [Cause]).
//
// It is the one package that guests compile too, so it does no I/O and knows no
// chain library. Everything decoded here is decoded strictly: a document is
// either exactly what the API names or an error that names the offending path.
// The one exception is [DecodeOpen], for guests, whose host may be younger.
//
// Numbers are exact or refused: an integer within ±(2^53-1), a free number that
// a float64 holds. So whatever decodes has one canonical form, and [Plan.Hash],
// [Definition.Digest] and [Key] name it.
//
// # Units
//
// Amounts are base units of a token (wei for ETH) as decimal strings. Times are
// unix seconds. Addresses are 0x and 40 hex digits.
package intent
