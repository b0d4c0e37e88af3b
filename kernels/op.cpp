// SPDX-License-Identifier: Apache-2.0
#include "kernels/op.h"

#include <cstdio>
#include <limits>

namespace weft::kernels {
namespace {

thread_local char last_error[256] = "";

void check_type(const Type& type) {
    require(type.dtype >= WEFT_F32 && type.dtype <= WEFT_F16, "an operand has an unknown dtype");
    require(type.rank >= 0 && type.rank <= WEFT_MAX_RANK, "an operand's rank is not in 0..8");
    std::int64_t bytes = dtype_size(type.dtype);
    for (int d = 0; d < type.rank; ++d) {
        const std::int64_t size = type.shape[d];
        require(size >= 0, "an operand has a negative dimension");
        require(size == 0 || bytes <= std::numeric_limits<std::int64_t>::max() / 16 / size,
                "an operand's size overflows");
        bytes *= size;
    }
}

} // namespace

void unsupported(const std::string& text) {
    throw Failure{WEFT_UNSUPPORTED, text};
}

void require(bool condition, const char* text) {
    if (!condition) {
        throw Failure{WEFT_BAD_ARGUMENT, text};
    }
}

weft_status fail(weft_status status, const char* text) {
    std::snprintf(last_error, sizeof last_error, "%s", text);
    return status;
}

Dims shape_of(const Type& type) {
    return {type.shape, type.shape + type.rank};
}

std::int64_t element_count(const Type& type) {
    std::int64_t count = 1;
    for (int d = 0; d < type.rank; ++d) {
        count *= type.shape[d];
    }
    return count;
}

std::int64_t dtype_size(std::int32_t dtype) {
    switch (dtype) {
    case WEFT_BF16:
    case WEFT_F16: return 2;
    case WEFT_F64:
    case WEFT_I64: return 8;
    case WEFT_U8: return 1;
    default: return 4;
    }
}

bool same_shape(const Type& a, const Type& b) {
    return shape_of(a) == shape_of(b);
}

std::int64_t last_dim(const Type& type) {
    return type.rank == 0 ? 1 : type.shape[type.rank - 1];
}

std::int64_t row_count(const Type& type) {
    std::int64_t count = 1;
    for (int d = 0; d + 1 < type.rank; ++d) {
        count *= type.shape[d];
    }
    return count;
}

Dims dense_strides(const Dims& shape) {
    Dims strides(shape.size(), 1);
    for (std::size_t d = shape.size(); d-- > 1;) {
        strides[d - 1] = strides[d] * shape[d];
    }
    return strides;
}

Dims broadcast_strides(const Type& from, const Type& to) {
    require(from.rank <= to.rank, "an input has more dimensions than the output");
    const Dims dense = dense_strides(shape_of(from));
    Dims strides(static_cast<std::size_t>(to.rank), 0);
    for (int d = 0; d < from.rank; ++d) {
        const int target = to.rank - from.rank + d;
        if (from.shape[d] == to.shape[target]) {
            strides[static_cast<std::size_t>(target)] =
                from.shape[d] == 1 ? 0 : dense[static_cast<std::size_t>(d)];
        } else {
            require(from.shape[d] == 1, "an input does not broadcast to the output's shape");
        }
    }
    return strides;
}

Op::Op(const weft_op_desc& desc) : desc_(desc) {
    require(desc.kind != nullptr, "the op has no name");
    require(desc.inputs >= 0 && desc.outputs >= 0 && desc.attributes >= 0 && desc.steps >= 0,
            "a count in the description is negative");
    require(desc.inputs == 0 || desc.input_types != nullptr, "input types are missing");
    require(desc.outputs == 0 || desc.output_types != nullptr, "output types are missing");
    require(desc.attributes == 0 || desc.attribute_list != nullptr, "attributes are missing");
    require(desc.steps == 0 || (desc.step_list != nullptr && desc.output_registers != nullptr),
            "the steps of a fused group are missing");
    for (int i = 0; i < desc.inputs; ++i) {
        check_type(desc.input_types[i]);
    }
    for (int i = 0; i < desc.outputs; ++i) {
        check_type(desc.output_types[i]);
    }
    for (int i = 0; i < desc.attributes; ++i) {
        const weft_attribute& a = desc.attribute_list[i];
        require(a.name != nullptr, "an attribute has no name");
        require(a.kind != WEFT_ATTRIBUTE_TEXT || a.text != nullptr, "a text attribute has no text");
        require(a.kind != WEFT_ATTRIBUTE_LIST ||
                    (a.list_size >= 0 && (a.list_size == 0 || a.list != nullptr)),
                "a list attribute has no list");
    }
}

const Type& Op::input(int i) const {
    require(i >= 0 && i < desc_.inputs, "the op has too few inputs");
    return desc_.input_types[i];
}

const Type& Op::output(int i) const {
    require(i >= 0 && i < desc_.outputs, "the op has too few outputs");
    return desc_.output_types[i];
}

std::span<const weft_elementwise_step> Op::steps() const {
    return {desc_.step_list, static_cast<std::size_t>(desc_.steps)};
}

std::int32_t Op::output_register(int i) const {
    require(i >= 0 && i < desc_.outputs && desc_.output_registers != nullptr,
            "the group does not say which register an output is");
    return desc_.output_registers[i];
}

const weft_attribute* Op::find(std::string_view name) const {
    for (int i = 0; i < desc_.attributes; ++i) {
        if (name == desc_.attribute_list[i].name) {
            return &desc_.attribute_list[i];
        }
    }
    return nullptr;
}

const weft_attribute& Op::get(std::string_view name) const {
    const weft_attribute* found = find(name);
    if (found == nullptr) {
        throw Failure{WEFT_BAD_ARGUMENT, "attribute '" + std::string(name) + "' is missing"};
    }
    return *found;
}

bool Op::flag(std::string_view name) const {
    const weft_attribute* found = find(name);
    return found != nullptr && found->integer != 0;
}

std::int64_t Op::integer(std::string_view name) const {
    const weft_attribute& a = get(name);
    require(a.kind == WEFT_ATTRIBUTE_INTEGER || a.kind == WEFT_ATTRIBUTE_FLAG,
            "an attribute that must be an integer is not");
    return a.integer;
}

double Op::real(std::string_view name) const {
    const weft_attribute& a = get(name);
    require(a.kind == WEFT_ATTRIBUTE_REAL || a.kind == WEFT_ATTRIBUTE_INTEGER,
            "an attribute that must be a number is not");
    return a.kind == WEFT_ATTRIBUTE_REAL ? a.real : static_cast<double>(a.integer);
}

double Op::real(std::string_view name, double fallback) const {
    return has(name) ? real(name) : fallback;
}

std::string_view Op::text(std::string_view name) const {
    const weft_attribute* found = find(name);
    require(found == nullptr || found->kind == WEFT_ATTRIBUTE_TEXT,
            "an attribute that must be text is not");
    return found == nullptr ? std::string_view() : std::string_view(found->text);
}

Dims Op::list(std::string_view name) const {
    const weft_attribute& a = get(name);
    if (a.kind == WEFT_ATTRIBUTE_INTEGER) {
        return {a.integer};
    }
    require(a.kind == WEFT_ATTRIBUTE_LIST, "an attribute that must be a list is not");
    return {a.list, a.list + a.list_size};
}

} // namespace weft::kernels

extern "C" const char* weft_last_error(void) {
    return weft::kernels::last_error;
}
