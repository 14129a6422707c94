// SPDX-License-Identifier: Apache-2.0
#pragma once
// The typed form of PTX: what the parser makes, the linker joins, and the executor lowers.
// Source: PTX ISA 9.0. Names of enumerators are the words of that document.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace drgpum::emulator::ptx {

enum class Type : std::uint8_t {
  kNone,
  kPred,
  kB8,
  kB16,
  kB32,
  kB64,
  kB128,
  kU8,
  kU16,
  kU32,
  kU64,
  kS8,
  kS16,
  kS32,
  kS64,
  kF16,
  kF16x2,
  kBf16,
  kBf16x2,
  kF32,
  kF64,
  kOther,  // named in Instruction::modifiers (tf32, e4m3, u16x2 ...)
};

enum class Space : std::uint8_t { kGeneric, kGlobal, kShared, kLocal, kConst, kParam };

enum class Opcode : std::uint16_t {
  // integer and floating arithmetic
  kAbs,
  kAdd,
  kAddc,
  kBfe,
  kBfi,
  kBfind,
  kBmsk,
  kBrev,
  kClz,
  kCopysign,
  kCos,
  kDiv,
  kDp2a,
  kDp4a,
  kEx2,
  kFma,
  kFns,
  kLg2,
  kMad,
  kMad24,
  kMadc,
  kMax,
  kMin,
  kMul,
  kMul24,
  kNeg,
  kPopc,
  kRcp,
  kRem,
  kRsqrt,
  kSad,
  kSin,
  kSqrt,
  kSub,
  kSubc,
  kSzext,
  kTanh,
  kTestp,
  // comparison, selection, logic, shifts
  kAnd,
  kCnot,
  kLop3,
  kNot,
  kOr,
  kSelp,
  kSet,
  kSetp,
  kShf,
  kShl,
  kShr,
  kSlct,
  kXor,
  // movement and conversion
  kCvt,
  kCvta,
  kIsspacep,
  kLd,
  kLdu,
  kMapa,
  kMov,
  kPrefetch,
  kPrefetchu,
  kPrmt,
  kSt,
  kApplypriority,
  kDiscard,
  kCpAsync,
  kCpAsyncCommitGroup,
  kCpAsyncWaitGroup,
  kCpAsyncWaitAll,
  kCreatepolicy,
  kGetctarank,
  kAlloca,
  kStacksave,
  kStackrestore,
  // control
  kBra,
  kBrx,
  kCall,
  kExit,
  kRet,
  kTrap,
  kBrkpt,
  kNanosleep,
  kPmevent,
  // warps and synchronisation
  kActivemask,
  kAtom,
  kBar,
  kBarrier,
  kElect,
  kFence,
  kGriddepcontrol,
  kMatch,
  kMbarrier,
  kMembar,
  kRed,
  kRedux,
  kShfl,
  kVote,
  // video, matrices, textures
  kVideo,
  kWmma,
  kMma,
  kLdmatrix,
  kMovmatrix,
  kStmatrix,
  kTex,
  kTld4,
  kTxq,
  kSuld,
  kSust,
  kSured,
  kSuq,
  kOther,  // known to the grammar only; the spelling is in Instruction::spelling
};

enum class Rounding : std::uint8_t { kNone, kRn, kRz, kRm, kRp, kRna, kRni, kRzi, kRmi, kRpi };

// .eq .ne ... of setp and set; the u forms are true when an operand is NaN.
enum class Compare : std::uint8_t {
  kNone,
  kEq,
  kNe,
  kLt,
  kLe,
  kGt,
  kGe,
  kLo,
  kLs,
  kHi,
  kHs,
  kEqu,
  kNeu,
  kLtu,
  kLeu,
  kGtu,
  kGeu,
  kNum,
  kNan,
};

enum class BoolOp : std::uint8_t { kNone, kAnd, kOr, kXor };

enum class Half : std::uint8_t { kNone, kLo, kHi, kWide };  // mul.lo, mul.hi, mul.wide

// What atom, red and redux do; kNone elsewhere.
enum class AtomOp : std::uint8_t {
  kNone,
  kAdd,
  kMin,
  kMax,
  kInc,
  kDec,
  kAnd,
  kOr,
  kXor,
  kExch,
  kCas
};

enum class WarpMode : std::uint8_t {
  kNone,
  kUp,
  kDown,
  kBfly,
  kIdx,  // shfl
  kAll,
  kAny,
  kUni,
  kBallot,  // vote, match.all/.any
  kSync,
  kArrive,
  kRed,        // bar.red: BoolOp says .and or .or; kNone is .popc
  kCtaArrive,  // bar, barrier: .sync .arrive .red; kSync also bar.warp.sync
};

enum class Special : std::uint8_t {
  kTidX,
  kTidY,
  kTidZ,
  kNtidX,
  kNtidY,
  kNtidZ,
  kCtaidX,
  kCtaidY,
  kCtaidZ,
  kNctaidX,
  kNctaidY,
  kNctaidZ,
  kLaneid,
  kWarpid,
  kNwarpid,
  kSmid,
  kNsmid,
  kGridid,
  kLanemaskEq,
  kLanemaskLe,
  kLanemaskLt,
  kLanemaskGe,
  kLanemaskGt,
  kClock,
  kClockHi,
  kClock64,
  kGlobaltimer,
  kGlobaltimerLo,
  kGlobaltimerHi,
  kDynamicSmemSize,
  kTotalSmemSize,
  kAggrSmemSize,
  kReservedSmemOffset,  // Operand::bits: 0 begin, 1 end, 2 cap, 3 + n for _<n>
  kClusterIdX,
  kClusterIdY,
  kClusterIdZ,
  kNclusterIdX,
  kNclusterIdY,
  kNclusterIdZ,
  kClusterCtaidX,
  kClusterCtaidY,
  kClusterCtaidZ,
  kClusterNctaidX,
  kClusterNctaidY,
  kClusterNctaidZ,
  kClusterCtarank,
  kClusterNctarank,
  kIsExplicitCluster,
  kEnvreg,  // number in Operand::bits
  kPm,      // number in Operand::bits; 64 + n for %pm<n>_64
  kCurrentGraphExec,
};

enum class OperandKind : std::uint8_t {
  kNone,
  kRegister,    // index: Function::registers
  kImmediate,   // bits: already in the instruction's type; doubles of f32 instructions are narrowed
  kSpecial,     // special
  kSymbol,      // the address of a symbol plus offset; index: Function::symbols
  kAddress,     // [base + offset]; base is a register, a symbol or absolute (see address_base)
  kVector,      // {a, b, ...}: elements [index, index + count) of Function::vector_elements
  kLabel,       // index: instruction number (Function::instructions)
  kLabelTable,  // brx.idx: index of Function::label_tables
  kSink,        // _
};

enum class AddressBase : std::uint8_t { kAbsolute, kRegister, kSymbol };

struct Operand {
  OperandKind kind = OperandKind::kNone;
  AddressBase address_base = AddressBase::kAbsolute;
  Special special = Special::kTidX;
  bool negated = false;  // !p, and the negative shfl/vote predicate sources
  // kVector: its length. kAddress: how many of the operands after it stand in the same brackets
  // (tex, suld: [texture, {coordinates}]).
  std::uint8_t count = 0;
  std::uint32_t index = 0;
  std::int64_t offset = 0;  // bytes
  // kImmediate: the value. kRegister of a video instruction: 0, or the part it takes: 0x10 + n for
  // .b<n>, 0x20 + n for .h<n>.
  std::uint64_t bits = 0;
};

inline constexpr std::uint32_t kNoRegister = 0xffffffffu;

// Modifiers that change the result stand in fields of their own; those that only hint (cache
// operators, eviction priorities) are dropped by the parser.
struct Instruction {
  Opcode opcode = Opcode::kOther;
  Type type = Type::kNone;         // the last type of most; the destination of cvt, set, atom ...
  Type source_type = Type::kNone;  // cvt and set: the source; mma: see modifiers
  Space space = Space::kGeneric;
  Rounding rounding = Rounding::kNone;
  Compare compare = Compare::kNone;
  BoolOp bool_op = BoolOp::kNone;
  Half half = Half::kNone;
  AtomOp atom_op = AtomOp::kNone;
  WarpMode warp_mode = WarpMode::kNone;
  std::uint8_t vector = 1;  // .v2, .v4, .v8
  bool ftz = false;
  bool sat = false;
  bool approx = false;
  bool full = false;       // div.full
  bool carry_out = false;  // .cc
  bool uniform = false;    // bra.uni, call.uni
  bool warp_sync = false;  // .sync of shfl, vote, match, bar.warp
  bool is_volatile = false;
  bool to_generic = false;    // cvta: false = to.<space> (generic address in, space address out)
  bool non_coherent = false;  // ld.global.nc
  bool clamp = false;         // shf.clamp, shr of bmsk.clamp
  bool shift_amount = false;  // bfind.shiftamt
  bool right = false;         // shf.r
  std::uint32_t guard = kNoRegister;  // @p or @!p
  bool guard_negated = false;
  std::vector<Operand> destinations;      // setp p|q has two; shfl d|p has two
  std::vector<Operand> sources;           // call: the callee symbol or register, then the arguments
  std::vector<std::string> modifiers;     // every dotted word in order of spelling, without the dot
  std::string spelling;                   // kOther, kVideo, kWmma, kMma ...: the whole opcode text
  std::uint32_t location = 0;             // index of Function::locations; 0: none
  std::uint32_t line = 0;                 // of the PTX text
  std::uint32_t prototype = kNoRegister;  // indirect call: index of Function::prototypes
};

// Only registers that an instruction names; a declared range that nothing uses leaves no trace.
struct Register {
  Type type = Type::kB32;
  std::string name;
};

enum class Linkage : std::uint8_t { kLocal, kVisible, kExtern, kWeak, kCommon };

// `address of symbol + addend` to be stored at `offset` of a variable's initial value; value_of()
// (relocation.h) says which bytes. Packed structs of nvcc's have one of these for each byte.
struct Relocation {
  std::uint64_t offset = 0;
  std::uint8_t size = 8;
  std::string symbol;
  std::int64_t addend = 0;
  bool generic = false;  // generic(symbol)
  std::uint64_t mask = ~std::uint64_t{0};
};

struct Variable {
  std::string name;
  Space space = Space::kGlobal;
  Linkage linkage = Linkage::kLocal;
  Type type = Type::kB8;
  std::uint32_t alignment = 1;
  std::uint64_t size = 0;          // bytes; extern shared arrays: 0
  std::vector<std::byte> initial;  // shorter than size: the rest is zero
  std::vector<Relocation> relocations;
  bool managed = false;  // .attribute(.managed)
  bool is_texture_or_surface = false;
};

struct Parameter {
  std::string name;
  Type type = Type::kB32;
  std::uint32_t alignment = 1;
  std::uint32_t size = 0;    // bytes
  std::uint32_t offset = 0;  // in the packed parameter buffer, by PTX's layout rules
};

enum class SymbolKind : std::uint8_t {
  kUnresolved,
  kGlobalVariable,  // index: Program::variables (global, const; also module-level shared)
  kLocalVariable,   // index: Function::variables (function-scope shared, local; call .param)
  kParameter,       // index: Function::parameters
  kReturn,          // index: Function::returns
  kFunction,        // index: Program::functions
};

// A name that a function's operands use; resolved by the linker.
struct Symbol {
  SymbolKind kind = SymbolKind::kUnresolved;
  std::uint32_t index = 0;
  std::string name;
};

struct SourceLocation {
  std::uint32_t file = 0;  // index of Program::files
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::uint32_t inlined_at = 0;  // index of Function::locations of the call site; 0: not inlined
  std::string inlined_function;  // mangled; empty when not inlined
};

// .callprototype, or .calltargets (then only targets), of indirect calls.
struct Prototype {
  std::string name;
  std::vector<Parameter> parameters;
  std::vector<Parameter> returns;
  std::vector<std::uint32_t> targets;  // indices of Function::symbols
};

// Instructions [begin, end). Made by analyze_control_flow (control_flow.h). A block that leaves the
// function (ret, exit, trap, the end of the body) has no successor for that; of a guarded bra the
// target comes first, then the block that follows.
struct BasicBlock {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::vector<std::uint32_t> successors;
  std::vector<std::uint32_t> predecessors;
  std::uint32_t post_dominator = 0xffffffffu;  // immediate; 0xffffffff: the function's exit
};

struct Function {
  std::string name;
  bool is_entry = false;
  bool has_body = false;
  Linkage linkage = Linkage::kLocal;
  std::vector<Parameter> parameters;
  std::vector<Parameter> returns;
  std::uint32_t parameter_bytes = 0;
  std::vector<Register> registers;
  std::vector<Variable> variables;  // .shared, .local and .param of the function's body
  std::vector<Symbol> symbols;
  std::vector<Instruction> instructions;
  std::vector<Operand> vector_elements;
  std::vector<std::vector<std::uint32_t>> label_tables;  // .branchtargets, as instruction numbers
  std::vector<Prototype> prototypes;
  std::vector<SourceLocation> locations;  // [0] is empty
  std::vector<BasicBlock> blocks;
  std::uint32_t max_threads[3] = {0, 0, 0};       // .maxntid; 0: not given
  std::uint32_t required_threads[3] = {0, 0, 0};  // .reqntid
  std::uint32_t required_cluster[3] = {0, 0, 0};  // .reqnctapercluster
  bool no_return = false;                         // .noreturn
};

// .alias name, target: the linker replaces every use of name.
struct Alias {
  std::string name;
  std::string target;
};

// One PTX text, or several linked into one.
struct Program {
  std::string name;  // where the text came from, for messages
  std::uint32_t isa_major = 0;
  std::uint32_t isa_minor = 0;
  std::uint32_t target = 0;  // 75 for sm_75
  std::vector<std::string> files;
  std::vector<Variable> variables;
  std::vector<Function> functions;
  std::vector<Alias> aliases;
};

}  // namespace drgpum::emulator::ptx
