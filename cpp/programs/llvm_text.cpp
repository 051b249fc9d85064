#include "programs/llvm_text.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdio>

#include "programs/sine_cosine.hpp"
#include "programs/tables.hpp"

namespace bellcrank {

namespace {

// Replaces $T by the type, $I by the integer of its size, $S by the suffix of intrinsics.
std::string filled(const std::string& text, const std::string& type, const std::string& integer,
                   const std::string& suffix) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '$') {
            out += text[i];
            continue;
        }
        const char what = text[++i];
        out += what == 'T' ? type : what == 'I' ? integer : suffix;
    }
    return out;
}

}  // namespace

std::string llvm_number(double value) {
    std::array<char, 24> text;
    std::snprintf(text.data(), text.size(), "0x%016llX",
                  static_cast<unsigned long long>(std::bit_cast<std::uint64_t>(value)));
    return text.data();
}

LlvmText::LlvmText(int lanes) : lanes_(lanes) {
    if (lanes == 1) {
        type_ = "double";
        integer_ = "i64";
        condition_ = "i1";
        suffix_ = "f64";
    } else {
        const std::string n = std::to_string(lanes);
        type_ = "<" + n + " x double>";
        integer_ = "<" + n + " x i64>";
        condition_ = "<" + n + " x i1>";
        suffix_ = "v" + n + "f64";
    }
}

std::string LlvmText::constant(double value) const {
    if (lanes_ == 1) return llvm_number(value);
    std::string out = "<";
    for (int lane = 0; lane < lanes_; ++lane) out += (lane == 0 ? "double " : ", double ") + llvm_number(value);
    return out + ">";
}

std::size_t LlvmText::unary_at(ProgramOp op) {
    return offsetof(ProgramTables, unary) + sizeof(void*) * static_cast<std::size_t>(op);
}

std::size_t LlvmText::binary_at(ProgramOp op) {
    return offsetof(ProgramTables, binary) + sizeof(void*) * static_cast<std::size_t>(op);
}

std::size_t LlvmText::table_at() { return offsetof(ProgramTables, table); }

// The operations of programs/sine_cosine.hpp, one by one.
std::string LlvmText::sine_cosine_near() const {
    using namespace sine_cosine_constants;
    const auto whole = [this](std::int64_t value) {
        if (lanes_ == 1) return std::to_string(value);
        std::string out = "<";
        for (int lane = 0; lane < lanes_; ++lane) out += (lane == 0 ? "i64 " : ", i64 ") + std::to_string(value);
        return out + ">";
    };
    std::string text;
    const auto line = [&text](const std::string& s) { text += "  " + s + "\n"; };
    const auto fma = [&](const std::string& out, const std::string& a, const std::string& b, const std::string& c) {
        line("%" + out + " = call $T @llvm.fma.$S($T " + a + ", $T " + b + ", $T " + c + ")");
    };
    fma("shifted", "%x", constant(kTwoOverPi), constant(kShift));
    line("%n = fsub $T %shifted, " + constant(kShift));
    line("%quarter = bitcast $T %shifted to $I");
    line("%minus_n = fneg $T %n");
    fma("first", "%minus_n", constant(kHalfPi[0]), "%x");
    fma("r", "%minus_n", constant(kHalfPi[1]), "%first");
    line("%off = fsub $T %first, %r");
    fma("rest1", "%minus_n", constant(kHalfPi[1]), "%off");
    fma("rest", "%minus_n", constant(kHalfPi[2]), "%rest1");
    line("%z = fmul $T %r, %r");
    line("%zz = fmul $T %z, %z");
    for (const auto& [name, k] : {std::pair(std::string("p"), kSine), std::pair(std::string("q"), kCosine)}) {
        fma(name + "4", constant(k[5]), "%z", constant(k[4]));
        fma(name + "2", constant(k[3]), "%z", constant(k[2]));
        fma(name + "0", constant(k[1]), "%z", constant(k[0]));
        fma(name + "h", "%" + name + "4", "%zz", "%" + name + "2");
        fma(name, "%" + name + "h", "%zz", "%" + name + "0");
    }
    line("%half = fmul $T %r, " + constant(0.5));
    line("%minus_half = fneg $T %half");
    line("%minus_r = fneg $T %r");
    fma("c0", "%minus_half", "%r", constant(1.0));
    line("%short = fsub $T " + constant(1.0) + ", %c0");
    fma("c1", "%minus_half", "%r", "%short");
    fma("c2", "%minus_r", "%rest", "%c1");
    fma("c3", "%zz", "%q", "%c2");
    line("%c = fadd $T %c0, %c3");
    line("%rz = fmul $T %r, %z");
    line("%s0 = fmul $T %rest, %c0");
    fma("s1", "%rz", "%p", "%s0");
    line("%s = fadd $T %r, %s1");
    const std::string sign = whole(std::int64_t(std::uint64_t{1} << 63));
    line("%s_raw = bitcast $T %s to $I");
    line("%r_raw = bitcast $T %r to $I");
    line("%r_sign = and $I %r_raw, " + sign);
    line("%s_bits = or $I %s_raw, %r_sign");
    line("%c_bits = bitcast $T %c to $I");
    line("%odd = and $I %quarter, " + whole(1));
    line("%swap = sub $I " + whole(0) + ", %odd");
    line("%either = xor $I %s_bits, %c_bits");
    line("%difference = and $I %either, %swap");
    line("%s_turned = xor $I %s_bits, %difference");
    line("%c_turned = xor $I %c_bits, %difference");
    line("%next = add $I %quarter, " + whole(1));
    for (const auto& [name, from] : {std::pair("s", "%quarter"), std::pair("c", "%next")}) {
        const std::string of(name);
        line("%" + of + "_up = shl $I " + from + ", " + whole(62));
        line("%" + of + "_sign = and $I %" + of + "_up, " + sign);
        line("%" + of + "_out = xor $I %" + of + "_turned, %" + of + "_sign");
        line("%" + of + "_double = bitcast $I %" + of + "_out to $T");
    }
    line("%one = insertvalue { $T, $T } undef, $T %s_double, 0");
    line("%both = insertvalue { $T, $T } %one, $T %c_double, 1");
    line("ret { $T, $T } %both");
    return text;
}

// Arguments beyond the bound, infinities and NaN: one lane as the interpreter does it, several one by one.
std::string LlvmText::sine_cosine_beyond() const {
    std::string text;
    if (lanes_ == 1) {
        for (const auto& [name, op] : {std::pair("sin", ProgramOp::sine), std::pair("cos", ProgramOp::cosine)}) {
            const std::string of(name);
            text += "  %at_" + of + " = getelementptr i8, ptr %calls, i64 " + std::to_string(unary_at(op)) + "\n";
            text += "  %f_" + of + " = load ptr, ptr %at_" + of + "\n";
            text += "  %y_" + of + " = call double %f_" + of + "(double %x)\n";
        }
        text += "  %sin_set = insertvalue { double, double } undef, double %y_sin, 0\n";
        text += "  %cos_set = insertvalue { double, double } %sin_set, double %y_cos, 1\n";
        return text + "  ret { double, double } %cos_set\n";
    }
    std::string s = "undef", c = "undef";
    for (int lane = 0; lane < lanes_; ++lane) {
        const std::string n = std::to_string(lane);
        text += "  %x" + n + " = extractelement $T %x, i32 " + n + "\n";
        text += "  %y" + n + " = call { double, double } @sine_cosine_1(double %x" + n + ", ptr %calls)\n";
        text += "  %sin" + n + " = extractvalue { double, double } %y" + n + ", 0\n";
        text += "  %cos" + n + " = extractvalue { double, double } %y" + n + ", 1\n";
        text += "  %s_to" + n + " = insertelement $T " + s + ", double %sin" + n + ", i32 " + n + "\n";
        text += "  %c_to" + n + " = insertelement $T " + c + ", double %cos" + n + ", i32 " + n + "\n";
        s = "%s_to" + n;
        c = "%c_to" + n;
    }
    text += "  %sines = insertvalue { $T, $T } undef, $T " + s + ", 0\n";
    text += "  %cosines = insertvalue { $T, $T } %sines, $T " + c + ", 1\n";
    return text + "  ret { $T, $T } %cosines\n";
}

std::string LlvmText::by_lanes(const std::string& name, int operands, const std::string& passed,
                               const std::string& call) const {
    const std::array<std::string, 2> operand = {"%a", "%b"};
    std::string text = "define internal $T @" + name + "(";
    for (int k = 0; k < operands; ++k) text += "$T " + operand[k] + ", ";
    text += passed + ") nounwind {\n";
    std::string sum = "undef";
    for (int lane = 0; lane < lanes_; ++lane) {
        const std::string n = std::to_string(lane);
        std::string arguments;
        for (int k = 0; k < operands; ++k) {
            if (lanes_ > 1) text += "  " + operand[k] + n + " = extractelement $T " + operand[k] + ", i32 " + n + "\n";
            arguments += (k == 0 ? "double " : ", double ") + operand[k] + (lanes_ > 1 ? n : "");
        }
        text += "  %y" + n + " = call double " + call + arguments + ")\n";
        if (lanes_ > 1) text += "  %to" + n + " = insertelement $T " + sum + ", double %y" + n + ", i32 " + n + "\n";
        sum = lanes_ > 1 ? "%to" + n : "%y0";
    }
    return text + "  ret $T " + sum + "\n}\n";
}

std::string LlvmText::sine_cosine() const {
    std::string text = "define internal { $T, $T } @sine_cosine_" + std::to_string(lanes_);
    text += "($T %x, ptr %calls) nounwind {\n  %size = call $T @llvm.fabs.$S($T %x)\n";
    text += "  %within = fcmp ole $T %size, " + constant(sine_cosine_constants::kBound) + "\n";
    std::string condition = "%within";
    if (lanes_ > 1) {
        const std::string bits = "i" + std::to_string(lanes_);
        text += "  %bits = bitcast <" + std::to_string(lanes_) + " x i1> %within to " + bits + "\n";
        text += "  %all = icmp eq " + bits + " %bits, -1\n";
        condition = "%all";
    }
    text += "  br i1 " + condition + ", label %near, label %beyond\nnear:\n" + sine_cosine_near();
    return text + "beyond:\n" + sine_cosine_beyond() + "}\n";
}

std::string LlvmText::helpers(const Needs& needs) const {
    std::string text;
    for (const char* intrinsic : {"fabs", "floor", "sqrt"})
        text += std::string("declare $T @llvm.") + intrinsic + ".$S($T)\n";
    text += "declare $T @llvm.fma.$S($T, $T, $T)\n";
    if (needs.sine_cosine) text += sine_cosine();
    if (needs.unary) text += by_lanes("call_unary", 1, "ptr %f", "%f(");
    if (needs.binary) text += by_lanes("call_binary", 2, "ptr %f", "%f(");
    if (needs.table)
        text += by_lanes("call_table", 1, "ptr %f, ptr %calls, i32 %number, i32 %order",
                         "%f(ptr %calls, i32 %number, i32 %order, ");
    return filled(text, type_, integer_, suffix_);
}

}  // namespace bellcrank
