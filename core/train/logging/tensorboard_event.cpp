// SPDX-License-Identifier: Apache-2.0
// Field numbers: tensorflow/core/util/event.proto, framework/summary.proto, framework/tensor.proto,
// tensorboard/plugins/hparams/{plugin_data,api}.proto.
#include "core/train/logging/tensorboard_event.h"

#include "core/base/protobuf.h"
#include "core/base/text.h"
#include "kernels/numbers.h"

#include <cmath>
#include <cstring>

namespace weft::train {
namespace {

using config::Json;

using protobuf::bytes, protobuf::fixed32, protobuf::fixed64, protobuf::varint;
using Message = protobuf::Reader;
using WireField = protobuf::Field;

template <typename T>
T little_endian(std::string_view text) {
    T value;
    std::memcpy(&value, text.data(), sizeof value);
    return value;
}

/// The element types of TensorProto.
enum TensorType : std::uint8_t {
    dt_float = 1,
    dt_double = 2,
    dt_int32 = 3,
    dt_uint8 = 4,
    dt_int16 = 5,
    dt_int8 = 6,
    dt_int64 = 9,
    dt_bool = 10,
    dt_bfloat16 = 14,
    dt_half = 19,
};

double half_number(std::uint64_t type, std::uint16_t bits) {
    return double(type == dt_half ? kernels::to_float(kernels::f16{bits})
                                  : kernels::to_float(kernels::bf16{bits}));
}

/// The one element of a tensor's raw bytes; none when it has more, or none, or is no number.
std::optional<double> element(std::uint64_t type, std::string_view text) {
    const auto as = [&]<typename T>(T*) -> std::optional<double> {
        return text.size() == sizeof(T) ? std::optional(double(little_endian<T>(text)))
                                        : std::nullopt;
    };
    switch (type) {
    case dt_float: return as(static_cast<float*>(nullptr));
    case dt_double: return as(static_cast<double*>(nullptr));
    case dt_int32: return as(static_cast<std::int32_t*>(nullptr));
    case dt_uint8:
    case dt_bool: return as(static_cast<std::uint8_t*>(nullptr));
    case dt_int16: return as(static_cast<std::int16_t*>(nullptr));
    case dt_int8: return as(static_cast<std::int8_t*>(nullptr));
    case dt_int64: return as(static_cast<std::int64_t*>(nullptr));
    default: break;
    }
    if (text.size() != 2 || (type != dt_bfloat16 && type != dt_half)) {
        return std::nullopt;
    }
    const auto bits = little_endian<std::uint16_t>(text);
    return half_number(type, bits);
}

/// Counts the elements of a repeated field, packed or not, and keeps the first.
struct Elements {
    std::size_t count = 0;
    double first = 0;

    void add(double value) {
        first = count == 0 ? value : first;
        ++count;
    }
};

template <typename T>
void add_fixed(Elements& out, const WireField& field) {
    const std::size_t count = field.text.size() / sizeof(T);
    if (count > 0) {
        out.add(double(little_endian<T>(field.text)));
        out.count += count - 1;
    }
}

void add_varints(Elements& out, const WireField& field, std::uint64_t type) {
    const auto add = [&](std::uint64_t value) {
        const bool half = type == dt_half || type == dt_bfloat16;
        out.add(half ? half_number(type, static_cast<std::uint16_t>(value))
                     : double(static_cast<std::int64_t>(value)));
    };
    if (field.wire == varint) {
        add(field.value);
        return;
    }
    // Packed: as many numbers as bytes whose high bit is not set.
    std::uint64_t value = 0;
    unsigned shift = 0;
    for (const char c : field.text) {
        const auto byte = static_cast<std::uint8_t>(c);
        value |= shift < 64 ? std::uint64_t{byte & 0x7fu} << shift : 0;
        shift += 7;
        if (byte < 0x80) {
            add(value);
            value = 0;
            shift = 0;
        }
    }
}

/// The number of a one-element tensor.
std::optional<double> read_tensor(std::string_view text) {
    std::uint64_t type = 0;
    std::optional<double> content;
    bool has_content = false;
    Elements elements;
    WireField field;
    for (Message tensor(text); tensor.next(field);) {
        if (field.is(1, varint)) {
            type = field.value;
        } else if (field.is(4, bytes)) {
            has_content = true;
            content = element(type, field.text);
        } else if (field.number == 5 && field.wire != varint) { // float_val
            add_fixed<float>(elements, field);
        } else if (field.number == 6 && field.wire != varint) { // double_val
            add_fixed<double>(elements, field);
        } else if (field.number == 7 || field.number == 10 || field.number == 11 ||
                   field.number == 13) { // int, int64, bool and half values
            add_varints(elements, field, type);
        }
    }
    if (has_content) {
        return content;
    }
    return elements.count == 1 ? std::optional(elements.first) : std::nullopt;
}

void read_metadata(std::string_view text, TensorboardValue& out) {
    WireField field;
    for (Message metadata(text); metadata.next(field);) {
        if (!field.is(1, bytes)) {
            continue;
        }
        std::string_view content;
        WireField part;
        for (Message plugin(field.text); plugin.next(part);) {
            if (part.is(1, bytes)) {
                out.plugin = part.text;
            } else if (part.is(2, bytes)) {
                content = part.text;
            }
        }
        if (out.plugin == "hparams") {
            out.hparams = content;
        }
    }
}

TensorboardValue read_value(std::string_view text) {
    TensorboardValue out;
    WireField field;
    for (Message value(text); value.next(field);) {
        if (field.is(1, bytes)) {
            out.tag = field.text;
        } else if (field.is(2, fixed32)) {
            out.number = little_endian<float>(field.text);
        } else if (field.is(4, bytes)) {
            out.image = field.text;
        } else if (field.is(5, bytes)) {
            out.histogram = field.text;
        } else if (field.is(6, bytes)) {
            out.audio = field.text;
        } else if (field.is(8, bytes)) {
            out.tensor = field.text;
            out.number = read_tensor(field.text);
        } else if (field.is(9, bytes)) {
            read_metadata(field.text, out);
        }
    }
    return out;
}

/// google.protobuf.Value: a number, text or boolean.
Json read_json_value(std::string_view text) {
    WireField field;
    for (Message value(text); value.next(field);) {
        if (field.is(2, fixed64)) {
            return little_endian<double>(field.text);
        }
        if (field.is(3, bytes)) {
            return shown(field.text, 1000);
        }
        if (field.is(4, varint)) {
            return field.value != 0;
        }
    }
    return nullptr;
}

} // namespace

bool read_tensorboard_event(
    std::string_view payload,
    const std::function<void(const TensorboardEvent&, const TensorboardValue&)>& take,
    TensorboardEvent& event) {
    constexpr std::uint64_t kSessionStart = 1;
    event = {};
    WireField field;
    // Time and step lie before the summary in what everybody writes, but need not.
    Message head(payload);
    while (head.next(field)) {
        if (field.is(1, fixed64)) {
            event.time = little_endian<double>(field.text);
        } else if (field.is(2, varint)) {
            event.step = static_cast<std::int64_t>(field.value);
        } else if (field.is(4, bytes) || field.is(9, bytes)) { // graph_def, meta_graph_def
            event.graph = true;
        } else if (field.is(7, bytes)) {
            WireField part;
            for (Message log(field.text); log.next(part);) {
                event.session_start |= part.is(1, varint) && part.value == kSessionStart;
            }
        }
    }
    if (!head.sound()) {
        return false;
    }
    for (Message message(payload); message.next(field);) {
        if (!field.is(5, bytes)) {
            continue;
        }
        WireField value;
        for (Message summary(field.text); summary.next(value);) {
            if (value.is(1, bytes)) {
                take(event, read_value(value.text));
            }
        }
    }
    return true;
}

Json read_hparams(std::string_view content) {
    Json out = Json::object();
    WireField field;
    for (Message data(content); data.next(field);) {
        if (!field.is(3, bytes)) { // session_start_info
            continue;
        }
        WireField entry;
        for (Message start(field.text); start.next(entry);) {
            if (!entry.is(1, bytes)) { // hparams
                continue;
            }
            std::string name;
            Json value;
            WireField part;
            for (Message pair(entry.text); pair.next(part);) {
                if (part.is(1, bytes)) {
                    name = shown(part.text, 200);
                } else if (part.is(2, bytes)) {
                    value = read_json_value(part.text);
                }
            }
            out[name] = std::move(value);
        }
    }
    return out;
}

} // namespace weft::train
