// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/groups/group_code.h"

#include "kernels/cpu/groups/code_writer.h"
#include "kernels/cpu/loops/simd.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace weft::kernels::cpu {
namespace {

using namespace Xbyak::util;

constexpr int kLanes = 16;
constexpr int kVector = 64; // bytes

/// Rare and mostly on single numbers (bias correction of optimizers): the library's accuracy.
void power_of_lanes(const float* a, const float* b, float* out) {
    for (int i = 0; i < kLanes; ++i) {
        out[i] = std::pow(a[i], b[i]);
    }
}

WEFT_VECTOR void angles_of_lanes(const float* y, const float* x, float* out) {
#pragma GCC ivdep
    for (int i = 0; i < kLanes; ++i) {
        out[i] = atan2_f(y[i], x[i]);
    }
}

WEFT_VECTOR void symlogs_of_lanes(const float* x, const float*, float* out) {
#pragma GCC ivdep
    for (int i = 0; i < kLanes; ++i) {
        out[i] = symlog_f(x[i]);
    }
}

using LanesFunction = void (*)(const float*, const float*, float*);

/// What is called; null: machine code of our own.
LanesFunction function_of(std::int32_t opcode) {
    return opcode == WEFT_EW_POW      ? &power_of_lanes
           : opcode == WEFT_EW_ATAN2  ? &angles_of_lanes
           : opcode == WEFT_EW_SYMLOG ? &symlogs_of_lanes
                                      : nullptr;
}

int size_of(std::int32_t dtype) {
    return static_cast<int>(dtype_size(dtype));
}

/// r12: pointers; r13, r14: see CodeWriter; r15: count; rbx: the element; rsp: the stack's vectors.
class GroupWriter final : public CodeWriter {
public:
    explicit GroupWriter(const GroupForm& form);

private:
    /// Where a value is: a register below kValues, or a vector of the stack.
    struct Home {
        int reg = -1;
        int slot = -1;
        bool there() const { return reg >= 0 || slot >= 0; }
    };

    int values() const { return static_cast<int>(form_.inputs.size() + form_.steps.size()); }
    int inputs() const { return static_cast<int>(form_.inputs.size()); }
    Home& home(int value) { return homes_[static_cast<std::size_t>(value)]; }

    void count_uses();
    bool rounded_by_stores(int value, std::int32_t dtype) const;
    void give_home(int value);
    void leave(int value);
    Xbyak::Address slot(int number) { return ptr[rsp + kVector * number]; }

    void numbers();
    void body(bool masked);
    void read(int input, bool masked);
    void step(int number, bool masked);
    void called(LanesFunction function, const Zmm& out, const Zmm& a, const Zmm& b);
    void write_outputs(bool masked);

    /// The value in a register: its own, or a temporary one.
    class Fetched {
    public:
        Fetched(GroupWriter& writer, int value) {
            const Home& home = writer.home(value);
            if (home.reg >= 0) {
                reg_ = Zmm(home.reg);
            } else {
                reg_ = temporary_.emplace(writer);
                writer.vmovups(reg_, writer.slot(home.slot));
            }
        }
        operator const Zmm&() const { return reg_; } // NOLINT: stands for its register

    private:
        std::optional<Temporary> temporary_;
        Zmm reg_;
    };

    const GroupForm& form_;
    std::vector<Home> homes_;
    std::vector<int> last_use_; // step; steps.size() for outputs
    std::vector<int> free_registers_, free_slots_;
    int slots_ = 0;
    bool calls_ = false;
};

constexpr int kSaved = CodeWriter::kValues; // vectors kept across a call, behind three operands
constexpr std::size_t kMostSlots = 200;

GroupWriter::GroupWriter(const GroupForm& form)
    : CodeWriter(4096 +
                 2 * 1024 *
                     (form.steps.size() + form.inputs.size() + form.output_registers.size())),
      form_(form) {
    if (form.inputs.size() + form.steps.size() > kMostSlots) {
        unsupported("a group of more than 200 inputs and steps");
    }
    homes_.resize(static_cast<std::size_t>(values()));
    count_uses();
    for (int i = kValues; i-- > 0;) {
        free_registers_.push_back(i);
    }
    calls_ = std::any_of(form.steps.begin(), form.steps.end(),
                         [](const Step& s) { return function_of(s.opcode) != nullptr; });
    slots_ = calls_ ? kSaved + 4 : 0; // operands, result, saved registers, the mask
    const int stack = (slots_ + values()) * kVector;

    for (const Xbyak::Reg64& reg : {rbx, rbp, r12, r13, r14, r15}) {
        push(reg);
    }
    mov(rbp, rsp);
    sub(rsp, stack);
    and_(rsp, -kVector);
    mov(r12, rdi);
    mov(r13, rsi);
    mov(r15, rdx);
    load_constants();
    numbers();
    xor_(ebx, ebx);

    const std::vector<Home> homes = homes_;
    const std::vector<int> registers = free_registers_;
    Xbyak::Label loop;
    Xbyak::Label rest;
    Xbyak::Label end;
    L(loop);
    lea(rax, ptr[rbx + kLanes]);
    cmp(rax, r15);
    jg(rest, T_NEAR);
    body(false);
    add(rbx, kLanes);
    jmp(loop, T_NEAR);
    L(rest);
    homes_ = homes;
    free_registers_ = registers;
    mov(rcx, r15);
    sub(rcx, rbx);
    jz(end, T_NEAR);
    mov(eax, 1);
    shl(eax, cl);
    sub(eax, 1);
    kmovw(k1, eax);
    body(true);
    L(end);
    mov(rsp, rbp);
    for (const Xbyak::Reg64& reg : {r15, r14, r13, r12, rbp, rbx}) {
        pop(reg);
    }
    vzeroupper();
    ret();
    setProtectModeRE();
}

void GroupWriter::count_uses() {
    last_use_.assign(static_cast<std::size_t>(values()), -1);
    for (std::size_t s = 0; s < form_.steps.size(); ++s) {
        for (int k = 0; k < form_.steps[s].arity; ++k) {
            last_use_[static_cast<std::size_t>(form_.steps[s].operand[k])] = static_cast<int>(s);
        }
    }
    for (const int value : form_.output_registers) {
        last_use_[static_cast<std::size_t>(value)] = static_cast<int>(form_.steps.size());
    }
}

/// No step reads the value, and every output that it is written to has the type.
bool GroupWriter::rounded_by_stores(int value, std::int32_t dtype) const {
    for (const Step& step : form_.steps) {
        if (std::find(step.operand, step.operand + step.arity, value) !=
            step.operand + step.arity) {
            return false;
        }
    }
    for (std::size_t o = 0; o < form_.output_registers.size(); ++o) {
        if (form_.output_registers[o] == value && form_.output_dtypes[o] != dtype) {
            return false;
        }
    }
    return true;
}

void GroupWriter::give_home(int value) {
    Home& at = home(value);
    if (!free_registers_.empty()) {
        at.reg = free_registers_.back();
        free_registers_.pop_back();
    } else if (!free_slots_.empty()) {
        at.slot = free_slots_.back();
        free_slots_.pop_back();
    } else {
        at.slot = slots_++;
    }
}

void GroupWriter::leave(int value) {
    const bool number = value < inputs() && form_.inputs[static_cast<std::size_t>(value)].number;
    Home& at = home(value);
    if (number || !at.there()) {
        return; // numbers stay for the next vector
    }
    (at.reg >= 0 ? free_registers_ : free_slots_).push_back(at.reg >= 0 ? at.reg : at.slot);
    at = Home{};
}

void GroupWriter::numbers() {
    for (int i = 0; i < inputs(); ++i) {
        const GroupForm::In& in = form_.inputs[static_cast<std::size_t>(i)];
        if (!in.number || last_use_[static_cast<std::size_t>(i)] < 0) {
            continue;
        }
        give_home(i);
        const Home& at = home(i);
        mov(rax, ptr[r12 + 8 * i]);
        if (at.reg >= 0) {
            load_number(in.dtype, Zmm(at.reg), Xbyak::RegExp(rax));
        } else {
            const Temporary t(*this);
            load_number(in.dtype, t, Xbyak::RegExp(rax));
            vmovups(slot(at.slot), t);
        }
    }
}

void GroupWriter::read(int input, bool masked) {
    const GroupForm::In& in = form_.inputs[static_cast<std::size_t>(input)];
    if (home(input).there()) {
        return;
    }
    give_home(input);
    const Home& at = home(input);
    mov(rax, ptr[r12 + 8 * input]);
    const Xbyak::RegExp address = rax + rbx * size_of(in.dtype);
    if (at.reg >= 0) {
        load(in.dtype, Zmm(at.reg), address, masked);
    } else {
        const Temporary t(*this);
        load(in.dtype, t, address, masked);
        vmovups(slot(at.slot), t);
    }
}

void GroupWriter::step(int number, bool masked) {
    const Step& own = form_.steps[static_cast<std::size_t>(number)];
    for (int k = 0; k < own.arity; ++k) {
        if (own.operand[k] < inputs()) {
            read(own.operand[k], masked);
        }
    }
    const int value = inputs() + number;
    if (last_use_[static_cast<std::size_t>(value)] >= 0) {
        give_home(value);
        const Home& at = home(value);
        const Fetched a(*this, own.operand[0]);
        const Fetched b(*this, own.operand[own.arity > 1 ? 1 : 0]);
        const Fetched c(*this, own.operand[own.arity > 2 ? 2 : 0]);
        std::optional<Temporary> temporary;
        const Zmm out = at.reg >= 0 ? Zmm(at.reg) : Zmm(temporary.emplace(*this));
        if (const LanesFunction function = function_of(own.opcode); function != nullptr) {
            called(function, out, a, b);
        } else {
            compute(own, number, out, a, b, c);
        }
        if (!rounded_by_stores(value, own.dtype)) {
            round(own.dtype, out);
        }
        if (at.slot >= 0) {
            vmovups(slot(at.slot), out);
        }
    }
    for (int v = 0; v < values(); ++v) {
        if (last_use_[static_cast<std::size_t>(v)] == number) {
            leave(v);
        }
    }
}

/// A call keeps no vector register and no mask.
void GroupWriter::called(LanesFunction function, const Zmm& out, const Zmm& a, const Zmm& b) {
    vmovups(slot(0), a);
    vmovups(slot(1), b);
    for (int i = 0; i < kSaved; ++i) {
        vmovups(slot(3 + i), Zmm(i));
    }
    kmovw(word[rsp + kVector * (kSaved + 3)], k1);
    lea(rdi, slot(0));
    lea(rsi, slot(1));
    lea(rdx, slot(2));
    mov(rax, reinterpret_cast<std::size_t>(function));
    vzeroupper();
    call(rax);
    for (int i = 0; i < kSaved; ++i) {
        vmovups(Zmm(i), slot(3 + i));
    }
    kmovw(k1, word[rsp + kVector * (kSaved + 3)]);
    vmovups(out, slot(2));
}

/// Behind the last read, because an output may lie over an input.
void GroupWriter::write_outputs(bool masked) {
    for (std::size_t o = 0; o < form_.output_registers.size(); ++o) {
        const std::int32_t dtype = form_.output_dtypes[o];
        const int value = form_.output_registers[o];
        const Fetched from(*this, value);
        mov(rax, ptr[r12 + 8 * (inputs() + static_cast<int>(o))]);
        store(dtype, rax + rbx * size_of(dtype), from, masked);
    }
}

void GroupWriter::body(bool masked) {
    const auto steps = static_cast<int>(form_.steps.size());
    for (int s = 0; s < steps; ++s) {
        step(s, masked);
    }
    for (const int value : form_.output_registers) {
        if (value < inputs()) {
            read(value, masked);
        }
    }
    write_outputs(masked);
    for (int v = 0; v < values(); ++v) {
        if (last_use_[static_cast<std::size_t>(v)] == steps) {
            leave(v);
        }
    }
}

class WrittenCode final : public GroupCode {
public:
    explicit WrittenCode(const GroupForm& form) : writer_(form) {
        function = writer_.getCode<GroupFunction>();
    }

private:
    GroupWriter writer_;
};

std::string key_of(const GroupForm& form) {
    std::string key;
    const auto add = [&key](std::int64_t number) { key += std::to_string(number) + ' '; };
    for (const GroupForm::In& in : form.inputs) {
        add(in.number ? -1 - in.dtype : in.dtype);
    }
    key += '/';
    for (const Step& step : form.steps) {
        add(step.opcode);
        add(step.dtype);
        for (int k = 0; k < step.arity; ++k) {
            add(step.operand[k]);
        }
    }
    key += '/';
    for (std::size_t o = 0; o < form.output_registers.size(); ++o) {
        add(form.output_registers[o]);
        add(form.output_dtypes[o]);
    }
    return key;
}

} // namespace

bool machine_runs_group_code() {
    static const bool runs =
        __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    return runs;
}

std::shared_ptr<const GroupCode> code_of(const GroupForm& form) {
    static std::mutex mutex;
    static std::map<std::string, std::shared_ptr<const GroupCode>> made;
    const std::string key = key_of(form);
    const std::lock_guard lock(mutex);
    std::shared_ptr<const GroupCode>& code = made[key];
    if (code == nullptr) {
        code = std::make_shared<WrittenCode>(form);
    }
    return code;
}

} // namespace weft::kernels::cpu
