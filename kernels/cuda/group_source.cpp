// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/group_source.h"

#include "kernels/philox.h"

#include <algorithm>
#include <bit>
#include <cstdio>

namespace weft::kernels::cuda {
namespace {

const char* function_of(std::int32_t opcode) {
    for (const ElementwiseName& name : kElementwiseNames) {
        if (name.opcode == opcode) {
            return name.name;
        }
    }
    throw Failure{WEFT_BAD_ARGUMENT, "a step has an unknown opcode"};
}

const char* dtype_word(std::int32_t dtype) {
    switch (dtype) {
    case WEFT_F32: return "kF32";
    case WEFT_BF16: return "kBf16";
    case WEFT_F16: return "kF16";
    case WEFT_I32: return "kI32";
    case WEFT_U8: return "kU8";
    case WEFT_F64: return "kF64";
    case WEFT_I64: return "kI64";
    default: unsupported("no such type in groups");
    }
}

bool is_wide(std::int32_t dtype) {
    return dtype == WEFT_F64 || dtype == WEFT_I64;
}

/// What elementwise_functions.h has in f64.
bool has_wide(std::int32_t opcode) {
    switch (opcode) {
    case WEFT_EW_CAST:
    case WEFT_EW_NEG:
    case WEFT_EW_ABS:
    case WEFT_EW_EXP:
    case WEFT_EW_LOG:
    case WEFT_EW_SQRT:
    case WEFT_EW_RSQRT:
    case WEFT_EW_SQUARE:
    case WEFT_EW_SIGN:
    case WEFT_EW_SYMLOG:
    case WEFT_EW_AFFINE:
    case WEFT_EW_ADD:
    case WEFT_EW_SUB:
    case WEFT_EW_MUL:
    case WEFT_EW_DIV:
    case WEFT_EW_MAXIMUM:
    case WEFT_EW_MINIMUM:
    case WEFT_EW_POW:
    case WEFT_EW_ATAN2:
    case WEFT_EW_LESS:
    case WEFT_EW_EQUAL:
    case WEFT_EW_SELECT: return true;
    default: return false;
    }
}

// What a kernel may get by value on every GPU that CUDA 12.1 knows is a little more.
constexpr std::size_t kMostWords = 4000;

GroupInput describe(const Type& type, const Type& shape, const Dims& strides, bool number) {
    GroupInput in;
    in.dtype = type.dtype;
    if (number) {
        in.kind = GroupInput::Kind::scalar;
        return in;
    }
    if (element_count(type) == element_count(shape)) {
        return in;
    }
    in.kind = GroupInput::Kind::strided;
    for (int d = 0; d < shape.rank; ++d) {
        const std::int64_t stride = strides[static_cast<std::size_t>(d)];
        if (shape.shape[d] == 1) {
            continue;
        }
        if (!in.shape.empty() && in.strides.back() == stride * shape.shape[d]) {
            in.shape.back() *= shape.shape[d]; // one run with the outer one
            in.strides.back() = stride;
        } else {
            in.shape.push_back(shape.shape[d]);
            in.strides.push_back(stride);
        }
    }
    in.dense = dense_strides(in.shape);
    return in;
}

/// What `pack` elements that begin at a multiple of it are in this input.
GroupInput::Pack pack_of(const GroupInput& in, int pack) {
    if (in.shape.back() % pack != 0 || in.strides.back() > 1) {
        return GroupInput::Pack::each;
    }
    if (in.strides.back() == 0) {
        return GroupInput::Pack::one;
    }
    for (std::size_t d = 0; d + 1 < in.strides.size(); ++d) {
        if (in.strides[d] % pack != 0) {
            return GroupInput::Pack::each;
        }
    }
    return GroupInput::Pack::run;
}

/// Writes the text of one group. Registers of a wide one are f64, an element at a time.
class Writer {
public:
    Writer(const Group& group, bool wide, GroupSource& out)
        : group_(group), wide_(wide), out_(out) {}

    void write() {
        word_ = sweeps() ? 3 : out_.row_words();
        for (std::size_t i = 0; i < out_.inputs.size(); ++i) {
            load(i);
        }
        for (std::size_t s = 0; s < group_.steps.size(); ++s) {
            step(s);
        }
        for (std::size_t o = 0; o < out_.output_dtypes.size(); ++o) {
            const std::string dtype = dtype_word(out_.output_dtypes[o]);
            body_ +=
                (wide_ ? "    wide_store<" + dtype + ">(" : "    write_run<N, " + dtype + ">(") +
                address(out_.output_word(o)) + ", i, r" +
                std::to_string(group_.output_registers[o]) + (wide_ ? "[0]" : "") + ");\n";
        }
        if (sweeps()) {
            out_.rows =
                std::min((kMostWords - word_) / out_.row_words(), std::bit_ceil(group_.tensors()));
        }
        const std::string text = whole("NAME");
        char name[40];
        std::snprintf(name, sizeof name, "weft_group_%016llx",
                      static_cast<unsigned long long>(stream_hash(text)));
        out_.name = name;
        out_.text = whole(name);
    }

private:
    bool sweeps() const { return group_.sweep; }
    std::string at(std::size_t word) const { return "w.at[" + std::to_string(word) + "]"; }
    std::string address(std::size_t word) const {
        return sweeps() ? "w.at[row + " + std::to_string(word) + "]" : at(word);
    }
    std::string parameter(std::uint64_t value) {
        out_.parameters.push_back(value);
        return at(word_++);
    }

    void load(std::size_t i) {
        const GroupInput& in = out_.inputs[i];
        const std::string types =
            "<N, " + std::string(dtype_word(in.dtype)) + ">(" + address(out_.input_word(i)) + ", ";
        const std::string to = ", r" + std::to_string(i) + ");\n";
        body_ += (wide_ ? "    double r" : "    float r") + std::to_string(i) + "[N];\n";
        if (wide_) {
            wide_load(i);
        } else if (in.kind == GroupInput::Kind::direct) {
            body_ += "    read_run" + types + "i" + to;
        } else if (in.kind == GroupInput::Kind::scalar) {
            body_ += "    read_one" + types + "0" + to;
        } else {
            strided(i, types, to);
        }
    }

    void wide_load(std::size_t i) {
        const GroupInput& in = out_.inputs[i];
        const std::string place = in.kind == GroupInput::Kind::direct   ? "i"
                                  : in.kind == GroupInput::Kind::scalar ? "0"
                                                                        : strided_place(i) + "(0)";
        body_ += "    r" + std::to_string(i) + "[0] = wide_load<" + dtype_word(in.dtype) + ">(" +
                 address(out_.input_word(i)) + ", " + place + ");\n";
    }

    /// Writes the function from an element of the pack to its place in the input; its name.
    std::string strided_place(std::size_t i) {
        const GroupInput& in = out_.inputs[i];
        std::string sum;
        for (std::size_t d = 0; d < in.shape.size(); ++d) {
            const std::string dense = parameter(static_cast<std::uint64_t>(in.dense[d]));
            const std::string shape = parameter(static_cast<std::uint64_t>(in.shape[d]));
            const std::string stride = parameter(static_cast<std::uint64_t>(in.strides[d]));
            sum += (d == 0 ? "" : " + ") + std::string("(i + k) / Index(") + dense + ") % Index(" +
                   shape + ") * Index(" + stride + ")";
        }
        const std::string offset = "o" + std::to_string(i);
        body_ += "    const auto " + offset + " = [&](Index k) { return " + sum + "; };\n";
        return offset;
    }

    void strided(std::size_t i, const std::string& types, const std::string& to) {
        const GroupInput& in = out_.inputs[i];
        const std::string offset = strided_place(i);
        if (in.pack == GroupInput::Pack::each) {
            body_ += "    for (int k = 0; k < N; ++k) {\n        r" + std::to_string(i) +
                     "[k] = load_as<" + dtype_word(in.dtype) + ">(" + address(out_.input_word(i)) +
                     ", " + offset + "(k));\n    }\n";
        } else {
            body_ += std::string("    ") +
                     (in.pack == GroupInput::Pack::run ? "read_run" : "read_one") + types + offset +
                     "(0)" + to;
        }
    }

    void step(std::size_t s) {
        const Step& step = group_.steps[s];
        if (wide_ && !has_wide(step.opcode)) {
            unsupported("no function of this kind in f64");
        }
        const std::string result = "r" + std::to_string(out_.inputs.size() + s);
        std::string call = "ew_" + std::string(function_of(step.opcode)) + "(";
        for (int k = 0; k < step.arity; ++k) {
            call += (k == 0 ? "r" : ", r") + std::to_string(step.operand[k]) + "[k]";
        }
        if (step.opcode == WEFT_EW_AFFINE) {
            call += ", " + constant(step.scale) + ", " + constant(step.shift);
        }
        call += ")";
        body_ += (wide_ ? "    double " : "    float ") + result +
                 "[N];\n    for (int k = 0; k < N; ++k) {\n        " + result +
                 "[k] = " + rounded(step.dtype, call) + ";\n    }\n";
    }

    std::string rounded(std::int32_t dtype, const std::string& call) const {
        switch (dtype) {
        case WEFT_BF16: return "rounded_to_bf16(" + call + ")";
        case WEFT_F16: return "rounded_to_f16(" + call + ")";
        case WEFT_F32: return wide_ ? "float(" + call + ")" : call;
        case WEFT_I64:
        case WEFT_I32: return "trunc(" + call + ")";
        default: return call;
        }
    }

    std::string constant(double value) {
        if (wide_) {
            return "double_of_bits(" + parameter(std::bit_cast<std::uint64_t>(value)) + ")";
        }
        return "float_of_bits(u32(" +
               parameter(std::bit_cast<std::uint32_t>(static_cast<float>(value))) + "))";
    }

    std::string whole(const std::string& name) const {
        const std::size_t words = sweeps() ? word_ + out_.rows * out_.row_words() : word_;
        return "namespace weft::kernels::cuda::parts_of_" + name +
               " {\nstruct Words {\n    u64 at[" + std::to_string(words) +
               "];\n};\nusing Index = " + (out_.wide ? "u64" : "u32") +
               ";\n\ntemplate <int N>\nWEFT_DEVICE void group(const Words& w, " +
               (sweeps() ? "u32 row, " : "") + "Index i) {\n" + body_ +
               "}\n\nextern \"C\" WEFT_GROUP_KERNEL " + name + "(const Words w) {\n" +
               (sweeps() ? over_chunks() : over_elements()) + "}\n}\n";
    }

    std::string over_elements() const {
        const std::string pack = std::to_string(out_.pack);
        return "    const u64 first = u64(block()) * threads() + thread();\n"
               "    const u64 step = u64(blocks()) * threads();\n"
               "    WEFT_ROLLED\n    for (u64 p = first; p < w.at[1] / " +
               pack + "; p += step) {\n        group<" + pack + ">(w, Index(p * " + pack +
               "));\n    }\n"
               "    WEFT_ROLLED\n    for (u64 i = w.at[1] + first; i < w.at[0]; i += step) {\n"
               "        group<1>(w, Index(i));\n    }\n";
    }

    /// The row of a chunk is the last that begins with it or before.
    std::string over_chunks() const {
        const std::string pack = std::to_string(out_.pack);
        const std::string chunk = std::to_string(kSweepChunk);
        const std::string table = std::to_string(word_);
        const std::string words = std::to_string(out_.row_words());
        return "    WEFT_ROLLED\n"
               "    for (u64 chunk = u64(block()); chunk < w.at[0]; chunk += u64(blocks())) {\n"
               "        u32 low = 0;\n        u32 high = u32(w.at[1]);\n"
               "        WEFT_ROLLED\n        while (high - low > 1) {\n"
               "            const u32 middle = (low + high) / 2;\n"
               "            const bool before = w.at[" +
               table + " + middle * " + words +
               "] <= chunk;\n"
               "            low = before ? middle : low;\n"
               "            high = before ? high : middle;\n        }\n"
               "        const u32 row = " +
               table + " + low * " + words + ";\n        const u64 begin = (chunk - w.at[row]) * " +
               chunk + ";\n        const u64 left = w.at[row + 1] - begin;\n" +
               "        const u32 count = left < " + chunk + " ? u32(left) : " + chunk +
               ";\n        const u32 packed = w.at[2] != 0 ? count / " + pack + " * " + pack +
               " : 0;\n        WEFT_ROLLED\n        for (u32 i = thread() * " + pack +
               "; i < packed; i += threads() * " + pack + ") {\n            group<" + pack +
               ">(w, row, Index(begin + i));\n        }\n"
               "        WEFT_ROLLED\n"
               "        for (u32 i = packed + thread(); i < count; i += threads()) {\n"
               "            group<1>(w, row, Index(begin + i));\n        }\n    }\n";
    }

    const Group& group_;
    const bool wide_;
    GroupSource& out_;
    std::string body_;
    std::size_t word_ = 0;
};

bool halves(std::int32_t dtype) {
    return dtype == WEFT_BF16 || dtype == WEFT_F16;
}

/// Sixteen bytes of the largest element that is read or written in place.
int pack_size(const GroupSource& group) {
    bool small = true;
    for (const GroupInput& in : group.inputs) {
        small = small && (in.kind == GroupInput::Kind::scalar || halves(in.dtype));
    }
    for (const std::int32_t dtype : group.output_dtypes) {
        small = small && halves(dtype);
    }
    return small ? 8 : 4;
}

} // namespace

GroupSource group_source(const Op& op) {
    const Group group = elementwise_group(op);
    GroupSource out;
    bool wide = false;
    for (std::size_t i = 0; i < group.inputs(); ++i) {
        const Type& type = op.input(static_cast<int>(i));
        out.inputs.push_back(describe(type, group.shape, group.strides[i], group.numbers[i]));
        wide = wide || is_wide(type.dtype);
    }
    for (std::size_t i = 0; i < group.outputs(); ++i) {
        const std::int32_t dtype = op.output(static_cast<int>(i)).dtype;
        if (dtype == WEFT_U8) {
            unsupported("groups do not write bytes");
        }
        out.output_dtypes.push_back(dtype);
        wide = wide || is_wide(dtype) || dtype == WEFT_I32;
    }
    for (const Step& step : group.steps) {
        wide = wide || is_wide(step.dtype);
    }
    out.pack = wide ? 1 : pack_size(out);
    for (GroupInput& in : out.inputs) {
        if (in.kind == GroupInput::Kind::strided) {
            in.pack = pack_of(in, out.pack);
        }
    }
    out.wide = *std::max_element(group.counts.begin(), group.counts.end()) > 0x7fffffff;
    Writer(group, wide, out).write();
    return out;
}

std::vector<std::uint64_t> GroupSource::words() const {
    std::vector<std::uint64_t> out(rows == 0 ? row_words() : 3);
    out.insert(out.end(), parameters.begin(), parameters.end());
    out.resize(out.size() + rows * row_words());
    return out;
}

bool GroupSource::packs(const std::vector<std::uint64_t>& words, std::size_t row) const {
    const auto aligned = [&](std::size_t word, std::int32_t dtype) {
        const auto bytes =
            static_cast<std::uint64_t>(std::min<std::int64_t>(16, pack * dtype_size(dtype)));
        return words[row + word] % bytes == 0;
    };
    bool all = true;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const GroupInput& in = inputs[i];
        const bool whole =
            in.kind == GroupInput::Kind::direct ||
            (in.kind == GroupInput::Kind::strided && in.pack == GroupInput::Pack::run);
        all = all && (!whole || aligned(input_word(i), in.dtype));
    }
    for (std::size_t o = 0; o < output_dtypes.size(); ++o) {
        all = all && aligned(output_word(o), output_dtypes[o]);
    }
    return all;
}

} // namespace weft::kernels::cuda
