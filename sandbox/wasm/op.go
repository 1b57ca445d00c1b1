package wasm

import "fmt"

// An Op is an instruction's opcode: one byte as it stands, or 0xfc00 and what
// follows the prefix 0xfc.
type Op uint16

// Opcodes, by their names in the specification.
const (
	OpUnreachable       Op = 0x00
	OpNop               Op = 0x01
	OpBlock             Op = 0x02
	OpLoop              Op = 0x03
	OpIf                Op = 0x04
	OpElse              Op = 0x05
	OpEnd               Op = 0x0b
	OpBr                Op = 0x0c
	OpBrIf              Op = 0x0d
	OpBrTable           Op = 0x0e
	OpReturn            Op = 0x0f
	OpCall              Op = 0x10
	OpCallIndirect      Op = 0x11
	OpDrop              Op = 0x1a
	OpSelect            Op = 0x1b
	OpSelectT           Op = 0x1c
	OpLocalGet          Op = 0x20
	OpLocalSet          Op = 0x21
	OpLocalTee          Op = 0x22
	OpGlobalGet         Op = 0x23
	OpGlobalSet         Op = 0x24
	OpTableGet          Op = 0x25
	OpTableSet          Op = 0x26
	OpI32Load           Op = 0x28
	OpI64Load           Op = 0x29
	OpF32Load           Op = 0x2a
	OpF64Load           Op = 0x2b
	OpI32Load8S         Op = 0x2c
	OpI32Load8U         Op = 0x2d
	OpI32Load16S        Op = 0x2e
	OpI32Load16U        Op = 0x2f
	OpI64Load8S         Op = 0x30
	OpI64Load8U         Op = 0x31
	OpI64Load16S        Op = 0x32
	OpI64Load16U        Op = 0x33
	OpI64Load32S        Op = 0x34
	OpI64Load32U        Op = 0x35
	OpI32Store          Op = 0x36
	OpI64Store          Op = 0x37
	OpF32Store          Op = 0x38
	OpF64Store          Op = 0x39
	OpI32Store8         Op = 0x3a
	OpI32Store16        Op = 0x3b
	OpI64Store8         Op = 0x3c
	OpI64Store16        Op = 0x3d
	OpI64Store32        Op = 0x3e
	OpMemorySize        Op = 0x3f
	OpMemoryGrow        Op = 0x40
	OpI32Const          Op = 0x41
	OpI64Const          Op = 0x42
	OpF32Const          Op = 0x43
	OpF64Const          Op = 0x44
	OpI32Eqz            Op = 0x45
	OpI32Eq             Op = 0x46
	OpI32Ne             Op = 0x47
	OpI32LtS            Op = 0x48
	OpI32LtU            Op = 0x49
	OpI32GtS            Op = 0x4a
	OpI32GtU            Op = 0x4b
	OpI32LeS            Op = 0x4c
	OpI32LeU            Op = 0x4d
	OpI32GeS            Op = 0x4e
	OpI32GeU            Op = 0x4f
	OpI64Eqz            Op = 0x50
	OpI64Eq             Op = 0x51
	OpI64Ne             Op = 0x52
	OpI64LtS            Op = 0x53
	OpI64LtU            Op = 0x54
	OpI64GtS            Op = 0x55
	OpI64GtU            Op = 0x56
	OpI64LeS            Op = 0x57
	OpI64LeU            Op = 0x58
	OpI64GeS            Op = 0x59
	OpI64GeU            Op = 0x5a
	OpF32Eq             Op = 0x5b
	OpF32Ne             Op = 0x5c
	OpF32Lt             Op = 0x5d
	OpF32Gt             Op = 0x5e
	OpF32Le             Op = 0x5f
	OpF32Ge             Op = 0x60
	OpF64Eq             Op = 0x61
	OpF64Ne             Op = 0x62
	OpF64Lt             Op = 0x63
	OpF64Gt             Op = 0x64
	OpF64Le             Op = 0x65
	OpF64Ge             Op = 0x66
	OpI32Clz            Op = 0x67
	OpI32Ctz            Op = 0x68
	OpI32Popcnt         Op = 0x69
	OpI32Add            Op = 0x6a
	OpI32Sub            Op = 0x6b
	OpI32Mul            Op = 0x6c
	OpI32DivS           Op = 0x6d
	OpI32DivU           Op = 0x6e
	OpI32RemS           Op = 0x6f
	OpI32RemU           Op = 0x70
	OpI32And            Op = 0x71
	OpI32Or             Op = 0x72
	OpI32Xor            Op = 0x73
	OpI32Shl            Op = 0x74
	OpI32ShrS           Op = 0x75
	OpI32ShrU           Op = 0x76
	OpI32Rotl           Op = 0x77
	OpI32Rotr           Op = 0x78
	OpI64Clz            Op = 0x79
	OpI64Ctz            Op = 0x7a
	OpI64Popcnt         Op = 0x7b
	OpI64Add            Op = 0x7c
	OpI64Sub            Op = 0x7d
	OpI64Mul            Op = 0x7e
	OpI64DivS           Op = 0x7f
	OpI64DivU           Op = 0x80
	OpI64RemS           Op = 0x81
	OpI64RemU           Op = 0x82
	OpI64And            Op = 0x83
	OpI64Or             Op = 0x84
	OpI64Xor            Op = 0x85
	OpI64Shl            Op = 0x86
	OpI64ShrS           Op = 0x87
	OpI64ShrU           Op = 0x88
	OpI64Rotl           Op = 0x89
	OpI64Rotr           Op = 0x8a
	OpF32Abs            Op = 0x8b
	OpF32Neg            Op = 0x8c
	OpF32Ceil           Op = 0x8d
	OpF32Floor          Op = 0x8e
	OpF32Trunc          Op = 0x8f
	OpF32Nearest        Op = 0x90
	OpF32Sqrt           Op = 0x91
	OpF32Add            Op = 0x92
	OpF32Sub            Op = 0x93
	OpF32Mul            Op = 0x94
	OpF32Div            Op = 0x95
	OpF32Min            Op = 0x96
	OpF32Max            Op = 0x97
	OpF32Copysign       Op = 0x98
	OpF64Abs            Op = 0x99
	OpF64Neg            Op = 0x9a
	OpF64Ceil           Op = 0x9b
	OpF64Floor          Op = 0x9c
	OpF64Trunc          Op = 0x9d
	OpF64Nearest        Op = 0x9e
	OpF64Sqrt           Op = 0x9f
	OpF64Add            Op = 0xa0
	OpF64Sub            Op = 0xa1
	OpF64Mul            Op = 0xa2
	OpF64Div            Op = 0xa3
	OpF64Min            Op = 0xa4
	OpF64Max            Op = 0xa5
	OpF64Copysign       Op = 0xa6
	OpI32WrapI64        Op = 0xa7
	OpI32TruncF32S      Op = 0xa8
	OpI32TruncF32U      Op = 0xa9
	OpI32TruncF64S      Op = 0xaa
	OpI32TruncF64U      Op = 0xab
	OpI64ExtendI32S     Op = 0xac
	OpI64ExtendI32U     Op = 0xad
	OpI64TruncF32S      Op = 0xae
	OpI64TruncF32U      Op = 0xaf
	OpI64TruncF64S      Op = 0xb0
	OpI64TruncF64U      Op = 0xb1
	OpF32ConvertI32S    Op = 0xb2
	OpF32ConvertI32U    Op = 0xb3
	OpF32ConvertI64S    Op = 0xb4
	OpF32ConvertI64U    Op = 0xb5
	OpF32DemoteF64      Op = 0xb6
	OpF64ConvertI32S    Op = 0xb7
	OpF64ConvertI32U    Op = 0xb8
	OpF64ConvertI64S    Op = 0xb9
	OpF64ConvertI64U    Op = 0xba
	OpF64PromoteF32     Op = 0xbb
	OpI32ReinterpretF32 Op = 0xbc
	OpI64ReinterpretF64 Op = 0xbd
	OpF32ReinterpretI32 Op = 0xbe
	OpF64ReinterpretI64 Op = 0xbf
	OpI32Extend8S       Op = 0xc0
	OpI32Extend16S      Op = 0xc1
	OpI64Extend8S       Op = 0xc2
	OpI64Extend16S      Op = 0xc3
	OpI64Extend32S      Op = 0xc4
	OpRefNull           Op = 0xd0
	OpRefIsNull         Op = 0xd1
	OpRefFunc           Op = 0xd2
	OpI32TruncSatF32S   Op = 0xfc00
	OpI32TruncSatF32U   Op = 0xfc01
	OpI32TruncSatF64S   Op = 0xfc02
	OpI32TruncSatF64U   Op = 0xfc03
	OpI64TruncSatF32S   Op = 0xfc04
	OpI64TruncSatF32U   Op = 0xfc05
	OpI64TruncSatF64S   Op = 0xfc06
	OpI64TruncSatF64U   Op = 0xfc07
	OpMemoryInit        Op = 0xfc08
	OpDataDrop          Op = 0xfc09
	OpMemoryCopy        Op = 0xfc0a
	OpMemoryFill        Op = 0xfc0b
	OpTableInit         Op = 0xfc0c
	OpElemDrop          Op = 0xfc0d
	OpTableCopy         Op = 0xfc0e
	OpTableGrow         Op = 0xfc0f
	OpTableSize         Op = 0xfc10
	OpTableFill         Op = 0xfc11
)

// An immediate says what follows an opcode.
type immediate byte

const (
	immUnknown   immediate = iota // the opcode isn't admitted
	immNone                       // nothing
	immBlock                      // a block type
	immIndex                      // an index or label
	immIndex2                     // two indices
	immIndexZero                  // an index and memory 0
	immZero                       // memory 0
	immZero2                      // memory 0 twice
	immTargets                    // the labels of br_table
	immTypes                      // the types of select
	immMem                        // alignment and offset
	immI32
	immI64
	immF32
	immF64
	immHeap // a reference type
)

// An opInfo is what is known of an opcode.
type opInfo struct {
	name         string
	imm          immediate
	pops, pushes int8 // -1: they depend on immediates
}

const prefixedOps = 0x12 // opcodes behind 0xfc

var (
	ops = [256]opInfo{
		OpUnreachable:       {"unreachable", immNone, -1, -1},
		OpNop:               {"nop", immNone, 0, 0},
		OpBlock:             {"block", immBlock, -1, -1},
		OpLoop:              {"loop", immBlock, -1, -1},
		OpIf:                {"if", immBlock, -1, -1},
		OpElse:              {"else", immNone, -1, -1},
		OpEnd:               {"end", immNone, -1, -1},
		OpBr:                {"br", immIndex, -1, -1},
		OpBrIf:              {"br_if", immIndex, -1, -1},
		OpBrTable:           {"br_table", immTargets, -1, -1},
		OpReturn:            {"return", immNone, -1, -1},
		OpCall:              {"call", immIndex, -1, -1},
		OpCallIndirect:      {"call_indirect", immIndex2, -1, -1},
		OpDrop:              {"drop", immNone, 1, 0},
		OpSelect:            {"select", immNone, 3, 1},
		OpSelectT:           {"select", immTypes, 3, 1},
		OpLocalGet:          {"local.get", immIndex, 0, 1},
		OpLocalSet:          {"local.set", immIndex, 1, 0},
		OpLocalTee:          {"local.tee", immIndex, 1, 1},
		OpGlobalGet:         {"global.get", immIndex, 0, 1},
		OpGlobalSet:         {"global.set", immIndex, 1, 0},
		OpTableGet:          {"table.get", immIndex, 1, 1},
		OpTableSet:          {"table.set", immIndex, 2, 0},
		OpI32Load:           {"i32.load", immMem, 1, 1},
		OpI64Load:           {"i64.load", immMem, 1, 1},
		OpF32Load:           {"f32.load", immMem, 1, 1},
		OpF64Load:           {"f64.load", immMem, 1, 1},
		OpI32Load8S:         {"i32.load8_s", immMem, 1, 1},
		OpI32Load8U:         {"i32.load8_u", immMem, 1, 1},
		OpI32Load16S:        {"i32.load16_s", immMem, 1, 1},
		OpI32Load16U:        {"i32.load16_u", immMem, 1, 1},
		OpI64Load8S:         {"i64.load8_s", immMem, 1, 1},
		OpI64Load8U:         {"i64.load8_u", immMem, 1, 1},
		OpI64Load16S:        {"i64.load16_s", immMem, 1, 1},
		OpI64Load16U:        {"i64.load16_u", immMem, 1, 1},
		OpI64Load32S:        {"i64.load32_s", immMem, 1, 1},
		OpI64Load32U:        {"i64.load32_u", immMem, 1, 1},
		OpI32Store:          {"i32.store", immMem, 2, 0},
		OpI64Store:          {"i64.store", immMem, 2, 0},
		OpF32Store:          {"f32.store", immMem, 2, 0},
		OpF64Store:          {"f64.store", immMem, 2, 0},
		OpI32Store8:         {"i32.store8", immMem, 2, 0},
		OpI32Store16:        {"i32.store16", immMem, 2, 0},
		OpI64Store8:         {"i64.store8", immMem, 2, 0},
		OpI64Store16:        {"i64.store16", immMem, 2, 0},
		OpI64Store32:        {"i64.store32", immMem, 2, 0},
		OpMemorySize:        {"memory.size", immZero, 0, 1},
		OpMemoryGrow:        {"memory.grow", immZero, 1, 1},
		OpI32Const:          {"i32.const", immI32, 0, 1},
		OpI64Const:          {"i64.const", immI64, 0, 1},
		OpF32Const:          {"f32.const", immF32, 0, 1},
		OpF64Const:          {"f64.const", immF64, 0, 1},
		OpI32Eqz:            {"i32.eqz", immNone, 1, 1},
		OpI32Eq:             {"i32.eq", immNone, 2, 1},
		OpI32Ne:             {"i32.ne", immNone, 2, 1},
		OpI32LtS:            {"i32.lt_s", immNone, 2, 1},
		OpI32LtU:            {"i32.lt_u", immNone, 2, 1},
		OpI32GtS:            {"i32.gt_s", immNone, 2, 1},
		OpI32GtU:            {"i32.gt_u", immNone, 2, 1},
		OpI32LeS:            {"i32.le_s", immNone, 2, 1},
		OpI32LeU:            {"i32.le_u", immNone, 2, 1},
		OpI32GeS:            {"i32.ge_s", immNone, 2, 1},
		OpI32GeU:            {"i32.ge_u", immNone, 2, 1},
		OpI64Eqz:            {"i64.eqz", immNone, 1, 1},
		OpI64Eq:             {"i64.eq", immNone, 2, 1},
		OpI64Ne:             {"i64.ne", immNone, 2, 1},
		OpI64LtS:            {"i64.lt_s", immNone, 2, 1},
		OpI64LtU:            {"i64.lt_u", immNone, 2, 1},
		OpI64GtS:            {"i64.gt_s", immNone, 2, 1},
		OpI64GtU:            {"i64.gt_u", immNone, 2, 1},
		OpI64LeS:            {"i64.le_s", immNone, 2, 1},
		OpI64LeU:            {"i64.le_u", immNone, 2, 1},
		OpI64GeS:            {"i64.ge_s", immNone, 2, 1},
		OpI64GeU:            {"i64.ge_u", immNone, 2, 1},
		OpF32Eq:             {"f32.eq", immNone, 2, 1},
		OpF32Ne:             {"f32.ne", immNone, 2, 1},
		OpF32Lt:             {"f32.lt", immNone, 2, 1},
		OpF32Gt:             {"f32.gt", immNone, 2, 1},
		OpF32Le:             {"f32.le", immNone, 2, 1},
		OpF32Ge:             {"f32.ge", immNone, 2, 1},
		OpF64Eq:             {"f64.eq", immNone, 2, 1},
		OpF64Ne:             {"f64.ne", immNone, 2, 1},
		OpF64Lt:             {"f64.lt", immNone, 2, 1},
		OpF64Gt:             {"f64.gt", immNone, 2, 1},
		OpF64Le:             {"f64.le", immNone, 2, 1},
		OpF64Ge:             {"f64.ge", immNone, 2, 1},
		OpI32Clz:            {"i32.clz", immNone, 1, 1},
		OpI32Ctz:            {"i32.ctz", immNone, 1, 1},
		OpI32Popcnt:         {"i32.popcnt", immNone, 1, 1},
		OpI32Add:            {"i32.add", immNone, 2, 1},
		OpI32Sub:            {"i32.sub", immNone, 2, 1},
		OpI32Mul:            {"i32.mul", immNone, 2, 1},
		OpI32DivS:           {"i32.div_s", immNone, 2, 1},
		OpI32DivU:           {"i32.div_u", immNone, 2, 1},
		OpI32RemS:           {"i32.rem_s", immNone, 2, 1},
		OpI32RemU:           {"i32.rem_u", immNone, 2, 1},
		OpI32And:            {"i32.and", immNone, 2, 1},
		OpI32Or:             {"i32.or", immNone, 2, 1},
		OpI32Xor:            {"i32.xor", immNone, 2, 1},
		OpI32Shl:            {"i32.shl", immNone, 2, 1},
		OpI32ShrS:           {"i32.shr_s", immNone, 2, 1},
		OpI32ShrU:           {"i32.shr_u", immNone, 2, 1},
		OpI32Rotl:           {"i32.rotl", immNone, 2, 1},
		OpI32Rotr:           {"i32.rotr", immNone, 2, 1},
		OpI64Clz:            {"i64.clz", immNone, 1, 1},
		OpI64Ctz:            {"i64.ctz", immNone, 1, 1},
		OpI64Popcnt:         {"i64.popcnt", immNone, 1, 1},
		OpI64Add:            {"i64.add", immNone, 2, 1},
		OpI64Sub:            {"i64.sub", immNone, 2, 1},
		OpI64Mul:            {"i64.mul", immNone, 2, 1},
		OpI64DivS:           {"i64.div_s", immNone, 2, 1},
		OpI64DivU:           {"i64.div_u", immNone, 2, 1},
		OpI64RemS:           {"i64.rem_s", immNone, 2, 1},
		OpI64RemU:           {"i64.rem_u", immNone, 2, 1},
		OpI64And:            {"i64.and", immNone, 2, 1},
		OpI64Or:             {"i64.or", immNone, 2, 1},
		OpI64Xor:            {"i64.xor", immNone, 2, 1},
		OpI64Shl:            {"i64.shl", immNone, 2, 1},
		OpI64ShrS:           {"i64.shr_s", immNone, 2, 1},
		OpI64ShrU:           {"i64.shr_u", immNone, 2, 1},
		OpI64Rotl:           {"i64.rotl", immNone, 2, 1},
		OpI64Rotr:           {"i64.rotr", immNone, 2, 1},
		OpF32Abs:            {"f32.abs", immNone, 1, 1},
		OpF32Neg:            {"f32.neg", immNone, 1, 1},
		OpF32Ceil:           {"f32.ceil", immNone, 1, 1},
		OpF32Floor:          {"f32.floor", immNone, 1, 1},
		OpF32Trunc:          {"f32.trunc", immNone, 1, 1},
		OpF32Nearest:        {"f32.nearest", immNone, 1, 1},
		OpF32Sqrt:           {"f32.sqrt", immNone, 1, 1},
		OpF32Add:            {"f32.add", immNone, 2, 1},
		OpF32Sub:            {"f32.sub", immNone, 2, 1},
		OpF32Mul:            {"f32.mul", immNone, 2, 1},
		OpF32Div:            {"f32.div", immNone, 2, 1},
		OpF32Min:            {"f32.min", immNone, 2, 1},
		OpF32Max:            {"f32.max", immNone, 2, 1},
		OpF32Copysign:       {"f32.copysign", immNone, 2, 1},
		OpF64Abs:            {"f64.abs", immNone, 1, 1},
		OpF64Neg:            {"f64.neg", immNone, 1, 1},
		OpF64Ceil:           {"f64.ceil", immNone, 1, 1},
		OpF64Floor:          {"f64.floor", immNone, 1, 1},
		OpF64Trunc:          {"f64.trunc", immNone, 1, 1},
		OpF64Nearest:        {"f64.nearest", immNone, 1, 1},
		OpF64Sqrt:           {"f64.sqrt", immNone, 1, 1},
		OpF64Add:            {"f64.add", immNone, 2, 1},
		OpF64Sub:            {"f64.sub", immNone, 2, 1},
		OpF64Mul:            {"f64.mul", immNone, 2, 1},
		OpF64Div:            {"f64.div", immNone, 2, 1},
		OpF64Min:            {"f64.min", immNone, 2, 1},
		OpF64Max:            {"f64.max", immNone, 2, 1},
		OpF64Copysign:       {"f64.copysign", immNone, 2, 1},
		OpI32WrapI64:        {"i32.wrap_i64", immNone, 1, 1},
		OpI32TruncF32S:      {"i32.trunc_f32_s", immNone, 1, 1},
		OpI32TruncF32U:      {"i32.trunc_f32_u", immNone, 1, 1},
		OpI32TruncF64S:      {"i32.trunc_f64_s", immNone, 1, 1},
		OpI32TruncF64U:      {"i32.trunc_f64_u", immNone, 1, 1},
		OpI64ExtendI32S:     {"i64.extend_i32_s", immNone, 1, 1},
		OpI64ExtendI32U:     {"i64.extend_i32_u", immNone, 1, 1},
		OpI64TruncF32S:      {"i64.trunc_f32_s", immNone, 1, 1},
		OpI64TruncF32U:      {"i64.trunc_f32_u", immNone, 1, 1},
		OpI64TruncF64S:      {"i64.trunc_f64_s", immNone, 1, 1},
		OpI64TruncF64U:      {"i64.trunc_f64_u", immNone, 1, 1},
		OpF32ConvertI32S:    {"f32.convert_i32_s", immNone, 1, 1},
		OpF32ConvertI32U:    {"f32.convert_i32_u", immNone, 1, 1},
		OpF32ConvertI64S:    {"f32.convert_i64_s", immNone, 1, 1},
		OpF32ConvertI64U:    {"f32.convert_i64_u", immNone, 1, 1},
		OpF32DemoteF64:      {"f32.demote_f64", immNone, 1, 1},
		OpF64ConvertI32S:    {"f64.convert_i32_s", immNone, 1, 1},
		OpF64ConvertI32U:    {"f64.convert_i32_u", immNone, 1, 1},
		OpF64ConvertI64S:    {"f64.convert_i64_s", immNone, 1, 1},
		OpF64ConvertI64U:    {"f64.convert_i64_u", immNone, 1, 1},
		OpF64PromoteF32:     {"f64.promote_f32", immNone, 1, 1},
		OpI32ReinterpretF32: {"i32.reinterpret_f32", immNone, 1, 1},
		OpI64ReinterpretF64: {"i64.reinterpret_f64", immNone, 1, 1},
		OpF32ReinterpretI32: {"f32.reinterpret_i32", immNone, 1, 1},
		OpF64ReinterpretI64: {"f64.reinterpret_i64", immNone, 1, 1},
		OpI32Extend8S:       {"i32.extend8_s", immNone, 1, 1},
		OpI32Extend16S:      {"i32.extend16_s", immNone, 1, 1},
		OpI64Extend8S:       {"i64.extend8_s", immNone, 1, 1},
		OpI64Extend16S:      {"i64.extend16_s", immNone, 1, 1},
		OpI64Extend32S:      {"i64.extend32_s", immNone, 1, 1},
		OpRefNull:           {"ref.null", immHeap, 0, 1},
		OpRefIsNull:         {"ref.is_null", immNone, 1, 1},
		OpRefFunc:           {"ref.func", immIndex, 0, 1},
	}
	opsFC = [prefixedOps]opInfo{
		OpI32TruncSatF32S & 0xff: {"i32.trunc_sat_f32_s", immNone, 1, 1},
		OpI32TruncSatF32U & 0xff: {"i32.trunc_sat_f32_u", immNone, 1, 1},
		OpI32TruncSatF64S & 0xff: {"i32.trunc_sat_f64_s", immNone, 1, 1},
		OpI32TruncSatF64U & 0xff: {"i32.trunc_sat_f64_u", immNone, 1, 1},
		OpI64TruncSatF32S & 0xff: {"i64.trunc_sat_f32_s", immNone, 1, 1},
		OpI64TruncSatF32U & 0xff: {"i64.trunc_sat_f32_u", immNone, 1, 1},
		OpI64TruncSatF64S & 0xff: {"i64.trunc_sat_f64_s", immNone, 1, 1},
		OpI64TruncSatF64U & 0xff: {"i64.trunc_sat_f64_u", immNone, 1, 1},
		OpMemoryInit & 0xff:      {"memory.init", immIndexZero, 3, 0},
		OpDataDrop & 0xff:        {"data.drop", immIndex, 0, 0},
		OpMemoryCopy & 0xff:      {"memory.copy", immZero2, 3, 0},
		OpMemoryFill & 0xff:      {"memory.fill", immZero, 3, 0},
		OpTableInit & 0xff:       {"table.init", immIndex2, 3, 0},
		OpElemDrop & 0xff:        {"elem.drop", immIndex, 0, 0},
		OpTableCopy & 0xff:       {"table.copy", immIndex2, 3, 0},
		OpTableGrow & 0xff:       {"table.grow", immIndex, 2, 1},
		OpTableSize & 0xff:       {"table.size", immIndex, 0, 1},
		OpTableFill & 0xff:       {"table.fill", immIndex, 3, 0},
	}
)

// info is what is known of an opcode; nil means that it isn't admitted.
func (o Op) info() *opInfo {
	switch {
	case o < 256 && ops[o].imm != immUnknown:
		return &ops[o]
	case o >= 0xfc00 && o < 0xfc00+prefixedOps:
		return &opsFC[o&0xff]
	}
	return nil
}

// String is the instruction's name.
func (o Op) String() string {
	if i := o.info(); i != nil {
		return i.name
	}
	return fmt.Sprintf("0x%02x", uint16(o))
}

// Stack tells how many operands an instruction takes and gives; ok is false where
// that depends on what follows the opcode: blocks, branches and calls.
func (o Op) Stack() (pops, pushes int, ok bool) {
	i := o.info()
	if i == nil || i.pops < 0 {
		return 0, 0, false
	}
	return int(i.pops), int(i.pushes), true
}
