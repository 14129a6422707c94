// SPDX-License-Identifier: Apache-2.0
// The tables between PTX words for types, spaces, opcodes, special registers and their enumerators.

#include "emulator/ptx/words.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <unordered_map>

namespace drgpum::emulator::ptx {
namespace {

template <typename T>
struct Word {
  std::string_view word;
  T value;
};

constexpr Word<Type> kTypes[] = {
    {"pred", Type::kPred}, {"b8", Type::kB8},         {"b16", Type::kB16}, {"b32", Type::kB32},
    {"b64", Type::kB64},   {"b128", Type::kB128},     {"u8", Type::kU8},   {"u16", Type::kU16},
    {"u32", Type::kU32},   {"u64", Type::kU64},       {"s8", Type::kS8},   {"s16", Type::kS16},
    {"s32", Type::kS32},   {"s64", Type::kS64},       {"f16", Type::kF16}, {"f16x2", Type::kF16x2},
    {"bf16", Type::kBf16}, {"bf16x2", Type::kBf16x2}, {"f32", Type::kF32}, {"f64", Type::kF64},
};

// Types that only special instructions know; they read Instruction::modifiers.
constexpr std::string_view kOtherTypes[] = {
    "tf32",       "e4m3",    "e5m2",  "e4m3x2", "e5m2x2", "e4m3x4",    "e5m2x4", "e2m1",
    "e2m1x2",     "e2m1x4",  "e2m3",  "e2m3x2", "e2m3x4", "e3m2",      "e3m2x2", "e3m2x4",
    "ue8m0",      "ue8m0x2", "u16x2", "s16x2",  "u8x4",   "s8x4",      "u4",     "s4",
    "u2",         "s2",      "b1",    "b4",     "b4x16",  "b6x16_p32", "f32x2",  "texref",
    "samplerref", "surfref", "b1024", "u32x2",  "s2f6x2", "b256",      "ue4m3"};

constexpr Word<Space> kSpaces[] = {
    {"global", Space::kGlobal},
    {"shared", Space::kShared},
    {"local", Space::kLocal},
    {"const", Space::kConst},
    {"param", Space::kParam},
    {"shared::cta", Space::kShared},
    {"shared::cluster", Space::kShared},
    {"param::entry", Space::kParam},
    {"param::func", Space::kParam},
};

constexpr Word<Opcode> kOpcodes[] = {
    {"abs", Opcode::kAbs},
    {"add", Opcode::kAdd},
    {"addc", Opcode::kAddc},
    {"bfe", Opcode::kBfe},
    {"bfi", Opcode::kBfi},
    {"bfind", Opcode::kBfind},
    {"bmsk", Opcode::kBmsk},
    {"brev", Opcode::kBrev},
    {"clz", Opcode::kClz},
    {"copysign", Opcode::kCopysign},
    {"cos", Opcode::kCos},
    {"div", Opcode::kDiv},
    {"dp2a", Opcode::kDp2a},
    {"dp4a", Opcode::kDp4a},
    {"ex2", Opcode::kEx2},
    {"fma", Opcode::kFma},
    {"fns", Opcode::kFns},
    {"lg2", Opcode::kLg2},
    {"mad", Opcode::kMad},
    {"mad24", Opcode::kMad24},
    {"madc", Opcode::kMadc},
    {"max", Opcode::kMax},
    {"min", Opcode::kMin},
    {"mul", Opcode::kMul},
    {"mul24", Opcode::kMul24},
    {"neg", Opcode::kNeg},
    {"popc", Opcode::kPopc},
    {"rcp", Opcode::kRcp},
    {"rem", Opcode::kRem},
    {"rsqrt", Opcode::kRsqrt},
    {"sad", Opcode::kSad},
    {"sin", Opcode::kSin},
    {"sqrt", Opcode::kSqrt},
    {"sub", Opcode::kSub},
    {"subc", Opcode::kSubc},
    {"szext", Opcode::kSzext},
    {"tanh", Opcode::kTanh},
    {"testp", Opcode::kTestp},
    {"and", Opcode::kAnd},
    {"cnot", Opcode::kCnot},
    {"lop3", Opcode::kLop3},
    {"not", Opcode::kNot},
    {"or", Opcode::kOr},
    {"selp", Opcode::kSelp},
    {"set", Opcode::kSet},
    {"setp", Opcode::kSetp},
    {"shf", Opcode::kShf},
    {"shl", Opcode::kShl},
    {"shr", Opcode::kShr},
    {"slct", Opcode::kSlct},
    {"xor", Opcode::kXor},
    {"cvt", Opcode::kCvt},
    {"cvta", Opcode::kCvta},
    {"isspacep", Opcode::kIsspacep},
    {"ld", Opcode::kLd},
    {"ldu", Opcode::kLdu},
    {"mapa", Opcode::kMapa},
    {"mov", Opcode::kMov},
    {"prefetch", Opcode::kPrefetch},
    {"prefetchu", Opcode::kPrefetchu},
    {"prmt", Opcode::kPrmt},
    {"st", Opcode::kSt},
    {"applypriority", Opcode::kApplypriority},
    {"discard", Opcode::kDiscard},
    {"cp", Opcode::kCpAsync},
    {"createpolicy", Opcode::kCreatepolicy},
    {"getctarank", Opcode::kGetctarank},
    {"alloca", Opcode::kAlloca},
    {"stacksave", Opcode::kStacksave},
    {"stackrestore", Opcode::kStackrestore},
    {"bra", Opcode::kBra},
    {"brx", Opcode::kBrx},
    {"call", Opcode::kCall},
    {"exit", Opcode::kExit},
    {"ret", Opcode::kRet},
    {"trap", Opcode::kTrap},
    {"brkpt", Opcode::kBrkpt},
    {"nanosleep", Opcode::kNanosleep},
    {"pmevent", Opcode::kPmevent},
    {"activemask", Opcode::kActivemask},
    {"atom", Opcode::kAtom},
    {"bar", Opcode::kBar},
    {"barrier", Opcode::kBarrier},
    {"elect", Opcode::kElect},
    {"fence", Opcode::kFence},
    {"griddepcontrol", Opcode::kGriddepcontrol},
    {"match", Opcode::kMatch},
    {"mbarrier", Opcode::kMbarrier},
    {"membar", Opcode::kMembar},
    {"red", Opcode::kRed},
    {"redux", Opcode::kRedux},
    {"shfl", Opcode::kShfl},
    {"vote", Opcode::kVote},
    {"wmma", Opcode::kWmma},
    {"mma", Opcode::kMma},
    {"ldmatrix", Opcode::kLdmatrix},
    {"movmatrix", Opcode::kMovmatrix},
    {"stmatrix", Opcode::kStmatrix},
    {"tex", Opcode::kTex},
    {"tld4", Opcode::kTld4},
    {"txq", Opcode::kTxq},
    {"suld", Opcode::kSuld},
    {"sust", Opcode::kSust},
    {"sured", Opcode::kSured},
    {"suq", Opcode::kSuq},
    {"vadd", Opcode::kVideo},
    {"vsub", Opcode::kVideo},
    {"vabsdiff", Opcode::kVideo},
    {"vmin", Opcode::kVideo},
    {"vmax", Opcode::kVideo},
    {"vshl", Opcode::kVideo},
    {"vshr", Opcode::kVideo},
    {"vmad", Opcode::kVideo},
    {"vset", Opcode::kVideo},
    {"vadd2", Opcode::kVideo},
    {"vsub2", Opcode::kVideo},
    {"vavrg2", Opcode::kVideo},
    {"vabsdiff2", Opcode::kVideo},
    {"vmin2", Opcode::kVideo},
    {"vmax2", Opcode::kVideo},
    {"vset2", Opcode::kVideo},
    {"vadd4", Opcode::kVideo},
    {"vsub4", Opcode::kVideo},
    {"vavrg4", Opcode::kVideo},
    {"vabsdiff4", Opcode::kVideo},
    {"vmin4", Opcode::kVideo},
    {"vmax4", Opcode::kVideo},
    {"vset4", Opcode::kVideo},
};

constexpr Word<Special> kSpecials[] = {
    {"%tid.x", Special::kTidX},
    {"%tid.y", Special::kTidY},
    {"%tid.z", Special::kTidZ},
    {"%ntid.x", Special::kNtidX},
    {"%ntid.y", Special::kNtidY},
    {"%ntid.z", Special::kNtidZ},
    {"%ctaid.x", Special::kCtaidX},
    {"%ctaid.y", Special::kCtaidY},
    {"%ctaid.z", Special::kCtaidZ},
    {"%nctaid.x", Special::kNctaidX},
    {"%nctaid.y", Special::kNctaidY},
    {"%nctaid.z", Special::kNctaidZ},
    {"%laneid", Special::kLaneid},
    {"%warpid", Special::kWarpid},
    {"%nwarpid", Special::kNwarpid},
    {"%smid", Special::kSmid},
    {"%nsmid", Special::kNsmid},
    {"%gridid", Special::kGridid},
    {"%lanemask_eq", Special::kLanemaskEq},
    {"%lanemask_le", Special::kLanemaskLe},
    {"%lanemask_lt", Special::kLanemaskLt},
    {"%lanemask_ge", Special::kLanemaskGe},
    {"%lanemask_gt", Special::kLanemaskGt},
    {"%clock", Special::kClock},
    {"%clock_hi", Special::kClockHi},
    {"%clock64", Special::kClock64},
    {"%globaltimer", Special::kGlobaltimer},
    {"%globaltimer_lo", Special::kGlobaltimerLo},
    {"%globaltimer_hi", Special::kGlobaltimerHi},
    {"%dynamic_smem_size", Special::kDynamicSmemSize},
    {"%total_smem_size", Special::kTotalSmemSize},
    {"%aggr_smem_size", Special::kAggrSmemSize},
    {"%clusterid.x", Special::kClusterIdX},
    {"%clusterid.y", Special::kClusterIdY},
    {"%clusterid.z", Special::kClusterIdZ},
    {"%nclusterid.x", Special::kNclusterIdX},
    {"%nclusterid.y", Special::kNclusterIdY},
    {"%nclusterid.z", Special::kNclusterIdZ},
    {"%cluster_ctaid.x", Special::kClusterCtaidX},
    {"%cluster_ctaid.y", Special::kClusterCtaidY},
    {"%cluster_ctaid.z", Special::kClusterCtaidZ},
    {"%cluster_nctaid.x", Special::kClusterNctaidX},
    {"%cluster_nctaid.y", Special::kClusterNctaidY},
    {"%cluster_nctaid.z", Special::kClusterNctaidZ},
    {"%cluster_ctarank", Special::kClusterCtarank},
    {"%cluster_nctarank", Special::kClusterNctarank},
    {"%is_explicit_cluster", Special::kIsExplicitCluster},
    {"%current_graph_exec", Special::kCurrentGraphExec},
};

template <typename T, std::size_t N>
const T* find_word(const Word<T> (&table)[N], std::string_view word) {
  using Index = std::unordered_map<std::string_view, const T*>;
  static const Index& index = *[&table] {  // never destroyed: modules are loaded while a program ends
    auto* made = new Index;
    for (const Word<T>& entry : table)
      made->emplace(entry.word, &entry.value);
    return made;
  }();
  const auto found = index.find(word);
  return found == index.end() ? nullptr : found->second;
}

template <typename T, std::size_t N>
std::string_view find_value(const Word<T> (&table)[N], T value) {
  const auto* found =
      std::find_if(std::begin(table), std::end(table), [&](auto& e) { return e.value == value; });
  return found == std::end(table) ? std::string_view() : found->word;
}

// Special registers that come in numbers: the name in front, the bits of number 0.
struct Family {
  std::string_view prefix;
  Special special;
  std::uint32_t first;
};

constexpr std::uint32_t kWidePm = 64;  // added to the number of %pm<n>_64

constexpr Family kFamilies[] = {
    {"%envreg", Special::kEnvreg, 0},
    {"%pm", Special::kPm, 0},
    {"%reserved_smem_offset_", Special::kReservedSmemOffset, 3},
};

// "%envreg12", "%pm3" (also "%pm3_64"), "%reserved_smem_offset_1".
std::optional<SpecialRegister> numbered_special(std::string_view name) {
  if (name == "%reserved_smem_offset_begin")
    return SpecialRegister{Special::kReservedSmemOffset, 0};
  if (name == "%reserved_smem_offset_end") return SpecialRegister{Special::kReservedSmemOffset, 1};
  if (name == "%reserved_smem_offset_cap") return SpecialRegister{Special::kReservedSmemOffset, 2};
  for (const Family& family : kFamilies) {
    if (!name.starts_with(family.prefix)) continue;
    std::string_view digits = name.substr(family.prefix.size());
    const bool wide = family.special == Special::kPm && digits.ends_with("_64");
    if (wide) digits.remove_suffix(3);
    if (digits.empty() || digits.size() > 2) continue;
    std::uint32_t number = 0;
    const auto* end = digits.data() + digits.size();
    if (std::from_chars(digits.data(), end, number).ptr != end) continue;
    return SpecialRegister{family.special, family.first + number + (wide ? kWidePm : 0)};
  }
  return std::nullopt;
}

}  // namespace

std::optional<Type> type_of_word(std::string_view word) {
  if (const Type* type = find_word(kTypes, word)) return *type;
  const auto* end = std::end(kOtherTypes);
  if (word.size() > 1 && std::find(std::begin(kOtherTypes), end, word) != end) return Type::kOther;
  return std::nullopt;
}

std::string_view word_of(Type type) {
  return find_value(kTypes, type);
}

std::uint32_t bytes_of(Type type) {
  switch (type) {
    case Type::kB8:
    case Type::kU8:
    case Type::kS8:
      return 1;
    case Type::kB16:
    case Type::kU16:
    case Type::kS16:
    case Type::kF16:
    case Type::kBf16:
      return 2;
    case Type::kB32:
    case Type::kU32:
    case Type::kS32:
    case Type::kF16x2:
    case Type::kBf16x2:
    case Type::kF32:
      return 4;
    case Type::kB64:
    case Type::kU64:
    case Type::kS64:
    case Type::kF64:
      return 8;
    case Type::kB128:
      return 16;
    case Type::kNone:
    case Type::kPred:
    case Type::kOther:
      return 0;
  }
  return 0;
}

bool is_float(Type type) {
  return type >= Type::kF16 && type <= Type::kF64;
}

bool is_signed(Type type) {
  return type == Type::kS8 || type == Type::kS16 || type == Type::kS32 || type == Type::kS64;
}

Type widened(Type type) {
  switch (type) {
    case Type::kU16:
      return Type::kU32;
    case Type::kS16:
      return Type::kS32;
    case Type::kU32:
      return Type::kU64;
    case Type::kS32:
      return Type::kS64;
    default:
      return type;
  }
}

std::optional<Space> space_of_word(std::string_view word) {
  const Space* space = find_word(kSpaces, word);
  return space == nullptr ? std::nullopt : std::optional(*space);
}

std::string_view word_of(Space space) {
  return find_value(kSpaces, space);
}

Opcode opcode_of_word(std::string_view word) {
  const Opcode* opcode = find_word(kOpcodes, word);
  return opcode == nullptr ? Opcode::kOther : *opcode;
}

std::string_view word_of(Opcode opcode) {
  switch (opcode) {
    case Opcode::kCpAsyncCommitGroup:
    case Opcode::kCpAsyncWaitGroup:
    case Opcode::kCpAsyncWaitAll:
      return "cp";
    default:
      return find_value(kOpcodes, opcode);
  }
}

std::optional<SpecialRegister> special_of_word(std::string_view name) {
  if (const Special* special = find_word(kSpecials, name)) return SpecialRegister{*special, 0};
  return numbered_special(name);
}

std::string text_of(const SpecialRegister& special) {
  const std::string number = std::to_string(special.number);
  switch (special.special) {
    case Special::kReservedSmemOffset: {
      constexpr std::string_view kNames[] = {"begin", "end", "cap"};
      const std::string prefix = "%reserved_smem_offset_";
      if (special.number < 3) return prefix + std::string(kNames[special.number]);
      return prefix + std::to_string(special.number - 3);
    }
    case Special::kEnvreg:
      return "%envreg" + number;
    case Special::kPm:
      if (special.number < kWidePm) return "%pm" + number;
      return "%pm" + std::to_string(special.number - kWidePm) + "_64";
    default:
      return std::string(find_value(kSpecials, special.special));
  }
}

}  // namespace drgpum::emulator::ptx
