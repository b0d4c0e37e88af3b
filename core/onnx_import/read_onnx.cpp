// SPDX-License-Identifier: Apache-2.0
#include "core/onnx_import/read_onnx.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/protobuf.h"
#include "core/base/text.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <set>

namespace weft::onnx_import {
namespace {

namespace fs = std::filesystem;
using protobuf::Field, protobuf::Reader;

constexpr std::int64_t kMostBytes = std::int64_t{2} << 30; // of a protocol buffer
constexpr std::size_t kMostNodes = 1'000'000;

[[noreturn]] void refuse(const fs::path& path, const std::string& text, std::string hint = {}) {
    throw Error(ErrorKind::checkpoint, path.string(), text,
                hint.empty() ? "the file is damaged; export it again" : std::move(hint));
}

/// TensorProto.DataType -> bytes of an element; 0: none that is read.
std::int64_t element_bytes(std::int64_t element) {
    switch (element) {
    case 2:
    case 3:
    case 9: return 1; // uint8, int8, bool
    case 4:
    case 5:
    case 10:
    case 16: return 2; // uint16, int16, float16, bfloat16
    case 1:
    case 6:
    case 12: return 4; // float, int32, uint32
    case 7:
    case 11:
    case 13: return 8; // int64, double, uint64
    default: return 0;
    }
}

/// Walks the fields of one message; a message that breaks off is refused.
template <class Take>
void each_field(const fs::path& path, std::string_view message, const Take& take) {
    Reader reader(message);
    for (Field field; reader.next(field);) {
        take(field);
    }
    if (!reader.sound()) {
        refuse(path, "it is no ONNX model, or ends too early");
    }
}

/// A repeated number, packed or not.
void take_integers(const fs::path& path, const Field& field, std::vector<std::int64_t>& into) {
    if (field.wire == protobuf::varint) {
        into.push_back(static_cast<std::int64_t>(field.value));
        return;
    }
    std::uint64_t value = 0;
    int shift = 0;
    for (const char c : field.text) {
        if (shift > 63) {
            refuse(path, "a number takes more bytes than numbers have");
        }
        value |= static_cast<std::uint64_t>(static_cast<unsigned char>(c) & 0x7F) << shift;
        shift += 7;
        if ((static_cast<unsigned char>(c) & 0x80) == 0) {
            into.push_back(static_cast<std::int64_t>(value));
            value = 0;
            shift = 0;
        }
    }
    if (shift != 0) {
        refuse(path, "a number breaks off");
    }
}

float read_float(std::string_view bytes) {
    float value = 0;
    std::memcpy(&value, bytes.data(), std::min(bytes.size(), sizeof value));
    return value;
}

std::string safe_name(const fs::path& path, std::string_view text) {
    if (text.find('\0') != text.npos || text.size() > 4096) {
        refuse(path, "a name is none: '" + shown(text, 120) + "'");
    }
    return std::string(text);
}

void take_place(const fs::path& path, std::string_view message, StoredTensor& tensor) {
    std::string key;
    std::string value;
    each_field(path, message, [&](const Field& field) {
        if (field.is(1, protobuf::bytes)) {
            key = field.text;
        } else if (field.is(2, protobuf::bytes)) {
            value = field.text;
        }
    });
    if (key == "location") {
        tensor.location = value;
        return;
    }
    if (key != "offset" && key != "length") {
        return;
    }
    std::int64_t number = -1;
    const auto [stop, problem] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (problem != std::errc() || stop != value.data() + value.size() || number < 0) {
        refuse(path, "a tensor's " + key + " is no number: '" + shown(value, 40) + "'");
    }
    (key == "offset" ? tensor.offset : tensor.length) = number;
}

StoredTensor read_tensor(const fs::path& path, std::string_view message) {
    StoredTensor out;
    bool outside = false;
    std::vector<std::string_view> places;
    each_field(path, message, [&](const Field& field) {
        switch (field.number) {
        case 1: take_integers(path, field, out.shape); break;
        case 2: out.element = static_cast<std::int64_t>(field.value); break;
        case 4:
        case 5:
        case 7:
        case 10:
        case 11: out.packed = field.text; break;
        case 8: out.name = safe_name(path, field.text); break;
        case 9: out.raw = field.text; break;
        case 13: places.push_back(field.text); break;
        case 14: outside = field.value == 1; break;
        default: break;
        }
    });
    for (const std::string_view place : places) {
        take_place(path, place, out);
    }
    const std::string named = "the tensor '" + shown(out.name, 120) + "'";
    if (out.shape.size() > static_cast<std::size_t>(ir::Shape::kMaxRank)) {
        refuse(path,
               named + " has " + std::to_string(out.shape.size()) + " dimensions, more than 8");
    }
    if (std::any_of(out.shape.begin(), out.shape.end(), [](auto extent) { return extent < 0; })) {
        refuse(path, named + " has a negative extent");
    }
    const std::int64_t size = element_bytes(out.element);
    if (size > 0 &&
        ir::capped_product(out.elements(), size) == std::numeric_limits<std::int64_t>::max()) {
        refuse(path, named + " has more elements than can be counted");
    }
    if (outside != !out.location.empty()) {
        refuse(path, named + " does not say where its numbers are");
    }
    return out;
}

StoredAttribute read_attribute(const fs::path& path, std::string_view message, std::string& name) {
    StoredAttribute out;
    each_field(path, message, [&](const Field& field) {
        switch (field.number) {
        case 1: name = safe_name(path, field.text); break;
        case 2: out.real = read_float(field.text); break;
        case 3: out.integer = static_cast<std::int64_t>(field.value); break;
        case 4: out.text = field.text; break;
        case 5: out.tensor = read_tensor(path, field.text); break;
        case 7:
            for (std::size_t at = 0; at + 4 <= field.text.size(); at += 4) {
                out.reals.push_back(read_float(field.text.substr(at)));
            }
            break;
        case 8: take_integers(path, field, out.integers); break;
        default: break;
        }
    });
    return out;
}

StoredNode read_node(const fs::path& path, std::string_view message) {
    StoredNode out;
    each_field(path, message, [&](const Field& field) {
        std::string name;
        switch (field.number) {
        case 1: out.inputs.push_back(safe_name(path, field.text)); break;
        case 2: out.outputs.push_back(safe_name(path, field.text)); break;
        case 3: out.name = safe_name(path, field.text); break;
        case 4: out.op = safe_name(path, field.text); break;
        case 5: {
            StoredAttribute attribute = read_attribute(path, field.text, name);
            out.attributes.insert_or_assign(name, std::move(attribute));
            break;
        }
        case 7: out.domain = safe_name(path, field.text); break;
        default: break;
        }
    });
    return out;
}

std::int64_t read_extent(const fs::path& path, std::string_view message) {
    std::int64_t out = -1;
    each_field(path, message, [&](const Field& field) {
        if (field.is(1, protobuf::varint)) {
            out = static_cast<std::int64_t>(field.value);
            if (out < -1) { // which some exporters write for any number
                refuse(path, "an input or output has a negative extent");
            }
        }
    });
    return out;
}

StoredPort read_port(const fs::path& path, std::string_view message) {
    StoredPort out;
    const auto take_shape = [&](const Field& dim) {
        if (dim.is(1, protobuf::bytes)) {
            out.shape.push_back(read_extent(path, dim.text));
        }
    };
    const auto take_tensor = [&](const Field& field) {
        if (field.is(1, protobuf::varint)) {
            out.element = static_cast<std::int64_t>(field.value);
        } else if (field.is(2, protobuf::bytes)) {
            each_field(path, field.text, take_shape);
        }
    };
    each_field(path, message, [&](const Field& field) {
        if (field.is(1, protobuf::bytes)) {
            out.name = safe_name(path, field.text);
        } else if (field.is(2, protobuf::bytes)) {
            each_field(path, field.text, [&](const Field& type) {
                if (type.is(1, protobuf::bytes)) {
                    each_field(path, type.text, take_tensor);
                }
            });
        }
    });
    if (out.shape.size() > static_cast<std::size_t>(ir::Shape::kMaxRank)) {
        refuse(path, "'" + shown(out.name, 120) + "' has more than 8 dimensions");
    }
    return out;
}

void read_graph(StoredModel& model, std::string_view message) {
    each_field(model.path, message, [&](const Field& field) {
        if (field.wire != protobuf::bytes) {
            return;
        }
        switch (field.number) {
        case 1: model.nodes.push_back(read_node(model.path, field.text)); break;
        case 2: model.name = field.text; break;
        case 5: model.initializers.push_back(read_tensor(model.path, field.text)); break;
        case 11: model.inputs.push_back(read_port(model.path, field.text)); break;
        case 12: model.outputs.push_back(read_port(model.path, field.text)); break;
        case 15:
            refuse(model.path, "it has sparse tensors, which are not read", "export dense tensors");
        default: break;
        }
        if (model.nodes.size() > kMostNodes) {
            refuse(model.path, "it has more than " + format_thousands(kMostNodes) + " nodes");
        }
    });
    std::set<std::string> given;
    for (const StoredTensor& tensor : model.initializers) {
        if (tensor.name.empty() || !given.insert(tensor.name).second) {
            refuse(model.path, "two tensors have the name '" + shown(tensor.name, 120) + "'");
        }
    }
    std::erase_if(model.inputs, [&](const StoredPort& port) { return given.contains(port.name); });
}

/// The file beside that holds a tensor: inside the model's folder, links followed.
fs::path place_of(const StoredModel& model, const StoredTensor& tensor) {
    const std::string named = "the numbers of '" + shown(tensor.name, 120) + "' lie in '" +
                              shown(tensor.location, 120) + "'";
    const fs::path relative(tensor.location);
    const bool outside = tensor.location.find('\0') != std::string::npos ||
                         relative.is_absolute() ||
                         std::any_of(relative.begin(), relative.end(),
                                     [](const auto& part) { return part == ".."; });
    std::error_code problem;
    const fs::path folder = fs::weakly_canonical(fs::absolute(model.path).parent_path(), problem);
    const fs::path file = outside ? fs::path() : fs::weakly_canonical(folder / relative, problem);
    const auto [end, unused] =
        std::mismatch(folder.begin(), folder.end(), file.begin(), file.end());
    if (outside || problem || end != folder.end()) {
        refuse(model.path, named + ", outside the folder of the file",
               "only files beside it are opened: export it anew, or put them there");
    }
    if (!fs::is_regular_file(file, problem)) {
        refuse(model.path, named + ", which is not there", "put the file beside the model");
    }
    return file;
}

double number_at(std::int64_t element, const char* at) {
    const auto as = [&](auto value) {
        std::memcpy(&value, at, sizeof value);
        return static_cast<double>(value);
    };
    switch (element) {
    case 1: return as(float{});
    case 2:
    case 9: return as(std::uint8_t{});
    case 3: return as(std::int8_t{});
    case 4: return as(std::uint16_t{});
    case 5: return as(std::int16_t{});
    case 6: return as(std::int32_t{});
    case 7: return as(std::int64_t{});
    case 11: return as(double{});
    case 12: return as(std::uint32_t{});
    case 13: return as(std::uint64_t{});
    case 16: {
        std::uint16_t bits = 0;
        std::memcpy(&bits, at, sizeof bits);
        return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
    }
    default: { // float16: sign, 5 bits of exponent, 10 of fraction
        std::uint16_t bits = 0;
        std::memcpy(&bits, at, sizeof bits);
        const int exponent = (bits >> 10) & 31;
        const double fraction = bits & 1023;
        const double size = exponent == 0    ? std::ldexp(fraction, -24)
                            : exponent == 31 ? (fraction == 0 ? HUGE_VAL : NAN)
                                             : std::ldexp(1024 + fraction, exponent - 25);
        return (bits & 0x8000) != 0 ? -size : size;
    }
    }
}

} // namespace

std::int64_t StoredTensor::elements() const {
    std::int64_t count = 1;
    for (const std::int64_t extent : shape) {
        count = ir::capped_product(count, extent);
    }
    return count;
}

std::unique_ptr<const StoredModel> read_onnx(const fs::path& path) {
    auto out = std::make_unique<StoredModel>();
    out->path = path;
    out->bytes = read_file(path, kMostBytes, ErrorKind::checkpoint);
    bool graph = false;
    each_field(path, out->bytes, [&](const Field& field) {
        if (field.is(7, protobuf::bytes)) {
            if (std::exchange(graph, true)) {
                refuse(path, "it has two graphs");
            }
            read_graph(*out, field.text);
        } else if (field.is(8, protobuf::bytes)) {
            std::string domain;
            std::int64_t version = 0;
            each_field(path, field.text, [&](const Field& part) {
                if (part.is(1, protobuf::bytes)) {
                    domain = part.text;
                } else if (part.is(2, protobuf::varint)) {
                    version = static_cast<std::int64_t>(part.value);
                }
            });
            if (domain.empty() || domain == "ai.onnx") {
                out->operator_set = version;
            }
        }
    });
    if (!graph) {
        refuse(path, "it is no ONNX model: it has no graph");
    }
    if (out->operator_set < kOldestOperatorSet || out->operator_set > kNewestOperatorSet) {
        refuse(path, "its operators are of set " + std::to_string(out->operator_set),
               "export it with an operator set from " + std::to_string(kOldestOperatorSet) +
                   " to " + std::to_string(kNewestOperatorSet));
    }
    return out;
}

std::optional<ir::DType> float_type(std::int64_t element) {
    switch (element) {
    case 1: return ir::DType::f32;
    case 10: return ir::DType::f16;
    case 11: return ir::DType::f64;
    case 16: return ir::DType::bf16;
    default: return std::nullopt;
    }
}

std::string tensor_bytes(const StoredModel& model, const StoredTensor& tensor) {
    const std::string named = "the tensor '" + shown(tensor.name, 120) + "'";
    const std::int64_t size = element_bytes(tensor.element);
    if (size == 0) {
        refuse(model.path,
               named + " is of the element type " + std::to_string(tensor.element) +
                   ", which is not read",
               "export it with f32 weights");
    }
    const std::int64_t wanted = tensor.elements() * size;
    if (!tensor.location.empty()) {
        const File file(place_of(model, tensor), File::Mode::read, ErrorKind::checkpoint);
        if ((tensor.length >= 0 && tensor.length != wanted) || tensor.offset > file.size() ||
            wanted > file.size() - tensor.offset) {
            refuse(model.path, named + " takes " + format_thousands(wanted) + " bytes, which '" +
                                   shown(tensor.location, 120) + "' does not have for it");
        }
        return read_range(file, tensor.offset, tensor.offset + wanted);
    }
    if (!tensor.raw.empty() || tensor.packed.empty()) {
        if (static_cast<std::int64_t>(tensor.raw.size()) != wanted) {
            refuse(model.path, named + " takes " + format_thousands(wanted) + " bytes and has " +
                                   format_thousands(static_cast<std::int64_t>(tensor.raw.size())));
        }
        return std::string(tensor.raw);
    }
    if (tensor.element == 1 || tensor.element == 11) { // float_data, double_data
        if (static_cast<std::int64_t>(tensor.packed.size()) != wanted) {
            refuse(model.path, named + " has not the numbers that its shape takes");
        }
        return std::string(tensor.packed);
    }
    std::vector<std::int64_t> numbers; // int32_data, int64_data, uint64_data
    take_integers(model.path, {5, protobuf::bytes, 0, tensor.packed}, numbers);
    if (static_cast<std::int64_t>(numbers.size()) != tensor.elements()) {
        refuse(model.path, named + " has not the numbers that its shape takes");
    }
    std::string out;
    for (const std::int64_t number : numbers) {
        out.append(reinterpret_cast<const char*>(&number), static_cast<std::size_t>(size));
    }
    return out;
}

std::vector<double> tensor_numbers(const StoredModel& model, const StoredTensor& tensor) {
    const std::string bytes = tensor_bytes(model, tensor);
    const auto size = static_cast<std::size_t>(element_bytes(tensor.element));
    std::vector<double> out(bytes.size() / size);
    for (std::size_t i = 0; i < out.size(); ++i) {
        out[i] = number_at(tensor.element, bytes.data() + i * size);
    }
    return out;
}

} // namespace weft::onnx_import
