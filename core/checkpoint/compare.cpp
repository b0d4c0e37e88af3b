// SPDX-License-Identifier: Apache-2.0
#include "core/checkpoint/array_reader.h"

#include "core/config/json.h"
#include "kernels/numbers.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <map>
#include <string_view>

namespace weft::checkpoint {
namespace {

template <class T>
T element(const std::vector<std::byte>& bytes, std::size_t index) {
    T value;
    std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
    return value;
}

/// Of an array, read and compared together.
constexpr std::int64_t kPartBytes = std::int64_t{16} << 20;

/// Wide enough for every element type: 64 bits of mantissa hold an i64.
using Wide = long double;

Wide wide_element(ir::DType dtype, const std::vector<std::byte>& bytes, std::size_t index) {
    switch (dtype) {
    case ir::DType::f32: return element<float>(bytes, index);
    case ir::DType::f64: return element<double>(bytes, index);
    case ir::DType::i32: return element<std::int32_t>(bytes, index);
    case ir::DType::i64: return element<std::int64_t>(bytes, index);
    case ir::DType::u8: return element<std::uint8_t>(bytes, index);
    case ir::DType::bf16: return kernels::to_float(element<kernels::bf16>(bytes, index));
    case ir::DType::f16: return kernels::to_float(element<kernels::f16>(bytes, index));
    }
    return 0;
}

/// The same array of two checkpoints, read in parts: neither is ever in memory whole, whatever its
/// size, unless one of its rows is.
class Pair {
public:
    Pair(ArrayReader& a, const TensorInfo& of_a, ArrayReader& b, const TensorInfo& of_b)
        : a_(a), of_a_(of_a), b_(b), of_b_(of_b) {}

    /// Calls fn with the bytes of each part until it returns false.
    template <class Fn>
    void for_each_part(const Fn& fn) {
        Box part = whole_box(of_a_.type.shape);
        const bool scalar = part.count.rank() == 0;
        const std::int64_t rows = scalar ? 1 : part.count[0];
        const std::int64_t row_bytes = rows == 0 ? 0 : of_a_.type.bytes() / rows;
        const std::int64_t together =
            std::max<std::int64_t>(1, kPartBytes / std::max<std::int64_t>(1, row_bytes));
        for (std::int64_t row = 0; row < rows; row += together) {
            const std::int64_t count = std::min(together, rows - row);
            if (!scalar) {
                part.start[0] = row;
                part.count[0] = count;
            }
            left_.resize(static_cast<std::size_t>(count * row_bytes));
            right_.resize(left_.size());
            a_.read(of_a_, dense(part), left_);
            b_.read(of_b_, dense(part), right_);
            if (!fn(left_, right_)) {
                return;
            }
        }
    }

private:
    ArrayReader& a_;
    const TensorInfo& of_a_;
    ArrayReader& b_;
    const TensorInfo& of_b_;
    std::vector<std::byte> left_;
    std::vector<std::byte> right_;
};

bool equal_bits(Pair pair) {
    bool equal = true;
    pair.for_each_part([&](const auto& left, const auto& right) { return equal = left == right; });
    return equal;
}

/// What differs, as far as it was added.
class Differences {
public:
    explicit Differences(const TensorInfo& tensor) : dtype_(tensor.type.dtype) {
        out_.name = tensor.name;
    }

    void add(const std::vector<std::byte>& a, const std::vector<std::byte>& b) {
        const auto size = static_cast<std::size_t>(ir::dtype_bytes(dtype_));
        for (std::size_t i = 0; i < a.size() / size; ++i) {
            const Wide left = wide_element(dtype_, a, i);
            const Wide right = wide_element(dtype_, b, i);
            squares_a_ += left * left;
            squares_b_ += right * right;
            if (std::memcmp(a.data() + i * size, b.data() + i * size, size) != 0) {
                add_pair(left, right);
            }
        }
    }

    TensorDifference result() const {
        TensorDifference out = out_;
        out.norm_a = static_cast<double>(std::sqrt(squares_a_));
        out.norm_b = static_cast<double>(std::sqrt(squares_b_));
        out.norm_difference = static_cast<double>(std::sqrt(squares_difference_));
        return out;
    }

private:
    void add_pair(Wide left, Wide right) {
        squares_difference_ += (left - right) * (left - right);
        if (!std::isfinite(left) || !std::isfinite(right)) {
            out_.max_absolute = out_.max_relative = std::numeric_limits<double>::infinity();
            return;
        }
        const Wide absolute = std::fabs(left - right);
        const Wide larger = std::max(std::fabs(left), std::fabs(right));
        const Wide relative = larger > 0 ? absolute / larger : 0; // both zero: -0 and +0
        out_.max_absolute = std::max(out_.max_absolute, static_cast<double>(absolute));
        out_.max_relative = std::max(out_.max_relative, static_cast<double>(relative));
    }

    ir::DType dtype_;
    TensorDifference out_;
    Wide squares_a_ = 0;
    Wide squares_b_ = 0;
    Wide squares_difference_ = 0;
};

TensorDifference difference_of(const TensorInfo& tensor, Pair pair) {
    Differences out(tensor);
    pair.for_each_part([&](const auto& left, const auto& right) {
        out.add(left, right);
        return true;
    });
    return out.result();
}

void compare_tensors(const Manifest& a, const Manifest& b, const Progress& progress,
                     Difference& out) {
    const auto note = [&](const std::string& name, std::string problem) {
        TensorDifference& difference = out.tensors.emplace_back();
        difference.name = name;
        difference.problem = std::move(problem);
    };
    ArrayReader from_a(a);
    ArrayReader from_b(b);
    std::int64_t done = 0;
    const std::int64_t total = std::max<std::int64_t>(1, a.bytes);
    for (const TensorInfo& tensor : a.tensors) {
        done += tensor.type.bytes();
        if (progress) {
            progress(std::min(1.0, static_cast<double>(done) / static_cast<double>(total)));
        }
        const TensorInfo* other = b.find(tensor.name);
        if (other == nullptr) {
            note(tensor.name, "only in A");
        } else if (other->type != tensor.type) {
            note(tensor.name,
                 "type differs: " + ir::to_text(tensor.type) + " / " + ir::to_text(other->type));
        } else {
            const Pair pair(from_a, tensor, from_b, *other);
            if (!equal_bits(pair)) {
                out.tensors.push_back(difference_of(tensor, pair));
            }
        }
    }
    for (const TensorInfo& tensor : b.tensors) {
        if (a.find(tensor.name) == nullptr) {
            note(tensor.name, "only in B");
        }
    }
}

bool is_time_or_host(std::string_view name) {
    constexpr std::array<std::string_view, 3> kWords = {"seconds", "time", "host"};
    return std::any_of(kWords.begin(), kWords.end(), [&](std::string_view word) {
        return name.find(word) != std::string_view::npos;
    });
}

/// Every number and text of the counters by its path.
void flatten(const Json& value, const std::string& path, std::map<std::string, std::string>& out) {
    if (!value.is_structured() || value.empty()) {
        out[path] = value.dump(-1, ' ', false, Json::error_handler_t::replace);
        return;
    }
    for (const auto& [key, entry] : value.items()) {
        if (!is_time_or_host(key)) {
            flatten(entry, path.empty() ? key : path + "." + key, out);
        }
    }
}

std::map<std::string, std::string> counters_of(const Record& record) {
    std::map<std::string, std::string> out;
    if (!record.counters.empty()) {
        flatten(record.counters, {}, out);
    }
    out["step"] = std::to_string(record.step);
    out["epoch"] = Json(record.epoch).dump();
    return out;
}

/// As people write it: 2.18962962962963 is 2.19.
std::string short_text(const std::string& value) {
    const Json number = config::json_or_discarded(value);
    if (!number.is_number_float()) {
        return value;
    }
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.4g", number.get<double>());
    return text.data();
}

/// Short where that tells them apart.
std::string pair_text(const std::string& left, const std::string& right) {
    const std::string short_left = short_text(left);
    const std::string short_right = short_text(right);
    return short_left != short_right ? short_left + " / " + short_right : left + " / " + right;
}

void compare_counters(const Manifest& a, const Manifest& b, Difference& out) {
    const std::map<std::string, std::string> left = counters_of(a.record);
    const std::map<std::string, std::string> right = counters_of(b.record);
    for (const auto& [path, value] : left) {
        const auto other = right.find(path);
        if (other == right.end()) {
            out.counters.push_back(path + ": " + short_text(value) + " / absent");
        } else if (other->second != value) {
            out.counters.push_back(path + ": " + pair_text(value, other->second));
        }
    }
    for (const auto& [path, value] : right) {
        if (!left.contains(path)) {
            out.counters.push_back(path + ": absent / " + short_text(value));
        }
    }
}

} // namespace

Difference compare(const Manifest& a, const Manifest& b, const Progress& progress) {
    Difference out;
    compare_tensors(a, b, progress, out);
    compare_counters(a, b, out);
    return out;
}

} // namespace weft::checkpoint
