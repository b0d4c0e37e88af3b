// SPDX-License-Identifier: Apache-2.0
#include "core/exec/compare_mesh.h"

#include "core/exec/mesh_interpreter.h"
#include "core/exec/placement_copy.h"
#include "core/ops/op_def.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace weft::exec {
namespace {

using ir::Op;
using ir::ValueId;
using ir::ValueIds;

std::vector<double> elements(const Tensor& tensor) {
    const auto all = [&]<typename T>(T) {
        const std::span<const T> own = tensor.span<T>();
        std::vector<double> out(own.size());
        std::transform(own.begin(), own.end(), out.begin(),
                       [](T value) { return static_cast<double>(value); });
        return out;
    };
    switch (tensor.type.dtype) {
    case ir::DType::f32: return all(float{});
    case ir::DType::f64: return all(double{});
    case ir::DType::i32: return all(std::int32_t{});
    case ir::DType::i64: return all(std::int64_t{});
    case ir::DType::u8: return all(std::uint8_t{});
    case ir::DType::bf16:
    case ir::DType::f16: break;
    }
    WEFT_CHECK(false, "programs are compared before their precision is lowered");
    return {};
}

double magnitude(const std::vector<double>& values) {
    double out = 0;
    for (const double value : values) {
        out = std::isfinite(value) ? std::max(out, std::abs(value)) : out;
    }
    return out;
}

/// 0 for equal infinities and two that are no number.
double difference(double a, double b) {
    if (a == b || (std::isnan(a) && std::isnan(b))) {
        return 0;
    }
    const double off = std::abs(a - b);
    return std::isfinite(off) ? off : std::numeric_limits<double>::infinity();
}

std::string describe_op(const Op& op) {
    std::string out = op.kind;
    if (ops::op_def(op.kind).collective) {
        out += " of " + op.attributes.text("cause");
    }
    return out;
}

/// Which of the block's own values are read last by each op, results of the block excepted.
std::vector<ValueIds> last_uses(const ir::Block& block) {
    std::vector<ValueIds> out(block.ops.size());
    std::map<ValueId, std::size_t> last;
    for (std::size_t i = 0; i < block.ops.size(); ++i) {
        const Op& op = block.ops[i];
        for (const ValueId id : op.outputs) {
            last[id] = i;
        }
        ValueIds read = op.structured() ? ir::captures(op) : ValueIds();
        read.insert(read.end(), op.inputs.begin(), op.inputs.end());
        for (const ValueId id : read) {
            const auto own = last.find(id);
            if (own != last.end()) {
                own->second = i;
            }
        }
    }
    for (const ValueId id : block.results) {
        last.erase(id);
    }
    for (const auto& [id, at] : last) {
        out[at].push_back(id);
    }
    return out;
}

} // namespace

MeshComparer::MeshComparer(const ir::Program& whole, const sharding::PartitionedProgram& local,
                           const sharding::Mesh& mesh, const InterpretOptions& options,
                           Agreement agreement)
    : whole_(whole), local_(local), mesh_(mesh), agreement_(agreement), one_(whole, options),
      many_(local.program, options, static_cast<int>(mesh.devices()), exchange_over(mesh)) {}

MeshComparison MeshComparer::run(std::span<const Tensor> arguments) {
    out_ = {};
    made_.assign(local_.program.values.size(), false);
    terms_.assign(whole_.values.size(), 0.0);
    magnitudes_.assign(whole_.values.size(), -1.0);
    for (std::size_t i = 0; i < whole_.arguments.size(); ++i) {
        one_.at(0, whole_.arguments[i].value) = arguments[i];
    }
    cut_arguments(many_, local_, mesh_, arguments);
    for (const ir::Port& port : local_.program.arguments) {
        made_[static_cast<std::size_t>(port.value.index)] = true;
    }
    walk(whole_.body, local_.program.body);
    for (std::size_t i = 0; !out_.first && i < whole_.results.size(); ++i) {
        if (result_agrees(i)) {
            out_.results.push_back(one_.at(0, whole_.results[i].value));
        }
    }
    return std::move(out_);
}

void MeshComparer::walk(const ir::Block& whole, const ir::Block& local) {
    begin(local);
    Cursor at{local};
    const auto whole_uses = last_uses(whole);
    const auto local_uses = last_uses(local);
    for (std::size_t i = 0; i < whole.ops.size() && !out_.first; ++i) {
        const Op& op = whole.ops[i];
        const std::size_t first = at.next;
        if (op.is_loop()) {
            while (!local.ops[at.next].is_loop()) {
                run_next(at);
            }
            walk_loop(op, local.ops[at.next++]);
        } else {
            one_.run(op);
        }
        advance(op, at);
        for (const ValueId output : op.outputs) {
            if (out_.first || !agrees(op, output, at, first)) {
                return;
            }
        }
        for (const ValueId id : whole_uses[i]) {
            one_.forget(id);
        }
        for (std::size_t done = first; done < at.next; ++done) {
            for (const ValueId id : local_uses[done]) {
                many_.forget(id);
            }
        }
    }
    while (!out_.first && at.next < local.ops.size()) {
        run_next(at);
    }
}

void MeshComparer::walk_loop(const Op& whole, const Op& local) {
    Interpreter::Loop one(one_, whole);
    Interpreter::Loop many(many_, local);
    for (std::int64_t step = 0; step < one.count() && !out_.first; ++step) {
        one.begin_iteration(step);
        many.begin_iteration(step);
        for (const ValueId id : one.body().arguments) {
            note_terms(id);
        }
        walk(one.body(), many.body());
        if (!out_.first) {
            one.end_iteration(step);
            many.end_iteration(step);
        }
    }
    one.finish();
    many.finish();
    for (const ValueId id : local.outputs) {
        made_[static_cast<std::size_t>(id.index)] = true;
    }
}

/// What an iteration before has made is not there yet in this one.
void MeshComparer::begin(const ir::Block& local) {
    for (const ValueId id : local.arguments) {
        made_[static_cast<std::size_t>(id.index)] = true;
    }
    for (const Op& op : local.ops) {
        for (const ValueId id : op.outputs) {
            made_[static_cast<std::size_t>(id.index)] = false;
        }
    }
}

void MeshComparer::run_next(Cursor& at) {
    const Op& op = at.block.ops[at.next++];
    many_.run(op);
    for (const ValueId id : op.outputs) {
        made_[static_cast<std::size_t>(id.index)] = true;
    }
}

/// Runs what devices run for the op.
void MeshComparer::advance(const Op& op, Cursor& at) {
    if (out_.first) {
        return;
    }
    for (const ValueId output : op.outputs) {
        const ValueId id = local_.values[static_cast<std::size_t>(output.index)].id;
        while (!made_[static_cast<std::size_t>(id.index)]) {
            WEFT_CHECK(at.next < at.block.ops.size(), "devices make what " + op.kind + " makes");
            run_next(at);
        }
    }
}

/// Of a value, or of the terms that devices hold of it where these are larger.
double MeshComparer::magnitude_of(ValueId id) {
    const auto at = static_cast<std::size_t>(id.index);
    if (magnitudes_[at] < 0) {
        const Tensor& expected = one_.at(0, id);
        const bool counts = ir::is_float(expected.type.dtype);
        magnitudes_[at] = counts ? magnitude(elements(expected)) : 0.0;
    }
    return std::max(magnitudes_[at], terms_[at]);
}

/// What an op's output is measured by where it is much smaller: its smallest operand, or terms that
/// the devices add up.
double MeshComparer::operand_magnitude(const Op& op, ValueId output) {
    const auto number = std::find(op.outputs.begin(), op.outputs.end(), output);
    if (op.is_loop()) {
        return magnitude_of(
            op.body[0].results[static_cast<std::size_t>(number - op.outputs.begin())]);
    }
    double least = std::numeric_limits<double>::infinity();
    double terms = 0;
    for (const ValueId input : op.inputs) {
        const double own = magnitude_of(input);
        least = own > 0 ? std::min(least, own) : least;
        terms = std::max(terms, terms_[static_cast<std::size_t>(input.index)]);
    }
    return std::max(terms, std::isfinite(least) ? least : 0.0);
}

/// Of a value that was just made.
void MeshComparer::note_terms(ValueId id) {
    const sharding::PlacedValue& placed = local_.values[static_cast<std::size_t>(id.index)];
    double& terms = terms_[static_cast<std::size_t>(id.index)];
    terms = 0;
    magnitudes_[static_cast<std::size_t>(id.index)] = -1;
    for (int device = 0; !placed.placement.partial.empty() && device < many_.devices(); ++device) {
        terms = std::max(terms, magnitude(elements(many_.at(device, placed.id))));
    }
}

bool MeshComparer::agrees(const Op& op, ValueId output, const Cursor& at, std::size_t first) {
    const sharding::PlacedValue& placed = local_.values[static_cast<std::size_t>(output.index)];
    const Tensor& expected = one_.at(0, output);
    note_terms(output);
    const auto off = off_by(
        expected, placed.id, placed.placement,
        std::max(operand_magnitude(op, output), terms_[static_cast<std::size_t>(output.index)]));
    if (!off) {
        make_equal(expected, placed.id, placed.placement);
        return true;
    }
    const std::string& name = whole_.value(output).name;
    const auto number = std::find(op.outputs.begin(), op.outputs.end(), output);
    out_.first =
        OpDifference{op.kind,
                     op.path,
                     op.phase,
                     name.empty() ? "output " + std::to_string(number - op.outputs.begin()) : name,
                     expected.type,
                     off->device,
                     !placed.placement.partial.empty(),
                     off->relative,
                     {}};
    for (std::size_t i = first; i < at.next; ++i) {
        out_.first->on_devices.push_back(describe_op(at.block.ops[i]));
    }
    return false;
}

bool MeshComparer::result_agrees(std::size_t index) {
    const ir::Port& port = whole_.results[index];
    const Tensor& expected = one_.at(0, port.value);
    const auto off = off_by(expected, local_.program.results[index].value, local_.results[index],
                            magnitude(elements(expected)));
    if (off) {
        out_.first = OpDifference{"result",    "",    ir::Phase::update, port.name, expected.type,
                                  off->device, false, off->relative,     {}};
    }
    return !off;
}

std::optional<MeshComparer::Off> MeshComparer::off_by(const Tensor& expected, ValueId id,
                                                      const sharding::Sharding& placement,
                                                      double least_magnitude) {
    const std::vector<double> whole = elements(expected);
    const bool exact = !ir::is_float(expected.type.dtype);
    const double scale = std::max(magnitude(whole), agreement_.cancelled * least_magnitude);
    const auto size = static_cast<std::size_t>(ir::dtype_bytes(expected.type.dtype));
    ++out_.values;
    for (const auto& group : mesh_.groups(placement.partial)) {
        std::vector<double> part = elements(many_.at(static_cast<int>(group[0]), id));
        for (std::size_t r = 1; r < group.size(); ++r) {
            const std::vector<double> term = elements(many_.at(static_cast<int>(group[r]), id));
            std::transform(part.begin(), part.end(), term.begin(), part.begin(), std::plus<>());
        }
        double off = 0;
        for_each_run(expected.type, placement, mesh_, static_cast<int>(group[0]),
                     [&](const CommonRun& run) {
                         for (std::size_t i = 0; i < run.bytes / size; ++i) {
                             off = std::max(off, difference(whole[run.in_whole / size + i],
                                                            part[run.in_part / size + i]));
                         }
                     });
        const double relative = off > 0 ? off / scale : 0.0;
        if (relative > (exact ? 0.0 : agreement_.relative)) {
            return Off{static_cast<int>(group[0]), relative};
        }
        out_.largest = std::max(out_.largest, relative);
    }
    return std::nullopt;
}

void MeshComparer::make_equal(const Tensor& expected, ValueId id,
                              const sharding::Sharding& placement) {
    if (!placement.partial.empty()) {
        return; // how the terms add up is the devices' affair
    }
    for (int device = 0; device < many_.devices(); ++device) {
        Tensor& part = many_.at(device, id);
        for_each_run(expected.type, placement, mesh_, device, [&](const CommonRun& run) {
            std::memcpy(part.data.data() + run.in_part, expected.data.data() + run.in_whole,
                        run.bytes);
        });
    }
}

} // namespace weft::exec
