// SPDX-License-Identifier: Apache-2.0
#include "core/exec/mesh_interpreter.h"

#include "core/base/text.h"
#include "core/exec/placement_copy.h"

#include <algorithm>
#include <cstring>

namespace weft::exec {
namespace {

void combine(const std::vector<Tensor>& in, std::size_t offset, bool max, Tensor& out) {
    const auto fold = [&]<typename T>(T) {
        const auto to = out.span<T>();
        const std::size_t first = offset / sizeof(T);
        for (std::size_t i = 0; i < to.size(); ++i) {
            T value = in[0].span<T>()[first + i];
            for (std::size_t r = 1; r < in.size(); ++r) {
                const T next = in[r].span<T>()[first + i];
                value = max ? std::max(value, next) : value + next;
            }
            to[i] = value;
        }
    };
    out.type.dtype == ir::DType::f64 ? fold(double{}) : fold(float{});
}

/// What device `rank` of a group has of an exchange; `in` by rank.
Tensor exchanged(const ir::Op& op, const std::vector<Tensor>& in, std::size_t rank,
                 const ir::Type& type) {
    Tensor out(type);
    const std::size_t n = in.size();
    const bool gathers = op.kind == "all_gather";
    const std::size_t part = gathers ? in[0].data.size() : in[0].data.size() / n;
    if (op.kind == "all_reduce" || op.kind == "reduce_scatter") {
        const std::size_t offset = op.kind == "all_reduce" ? 0 : rank * part;
        combine(in, offset, op.attributes.text("reduce") == "max", out);
    } else if (op.kind == "permute") {
        const auto shift = static_cast<std::size_t>(op.attributes.integer("shift"));
        out.data = in[(rank + n - shift % n) % n].data;
    } else { // part r comes from device r
        WEFT_CHECK(gathers || op.kind == "all_to_all", "an exchange that is known: " + op.kind);
        for (std::size_t r = 0; r < n; ++r) {
            const std::size_t from = gathers ? 0 : rank * part;
            std::memcpy(out.data.data() + r * part, in[r].data.data() + from, part);
        }
    }
    return out;
}

void exchange(Interpreter& devices, const ir::Op& op, const std::vector<std::int64_t>& group) {
    for (std::size_t operand = 0; operand < op.inputs.size(); ++operand) {
        std::vector<Tensor> in;
        for (const std::int64_t device : group) {
            in.push_back(devices.at(static_cast<int>(device), op.inputs[operand]));
        }
        const ir::ValueId output = op.outputs[operand];
        for (std::size_t rank = 0; rank < group.size(); ++rank) {
            devices.at(static_cast<int>(group[rank]), output) =
                exchanged(op, in, rank, devices.program().type(output));
        }
    }
}

} // namespace

Interpreter::Exchange exchange_over(sharding::Mesh mesh) {
    return [mesh = std::move(mesh)](Interpreter& devices, const ir::Op& op) {
        std::vector<int> axes;
        for (const std::string& name : split(op.attributes.text("axes"), ',')) {
            axes.push_back(mesh.find(name));
        }
        for (const auto& group : mesh.groups(axes)) {
            exchange(devices, op, group);
        }
    };
}

void cut_arguments(Interpreter& devices, const sharding::PartitionedProgram& local,
                   const sharding::Mesh& mesh, std::span<const Tensor> arguments) {
    const ir::Program& program = devices.program();
    for (std::size_t i = 0; i < program.arguments.size(); ++i) {
        const ir::Port& port = program.arguments[i];
        for (int d = 0; d < devices.devices(); ++d) {
            Tensor part(program.type(port.value));
            if (port.name == sharding::kCoordinates) {
                const auto place = mesh.coordinates(d);
                std::memcpy(part.data.data(), place.data(), part.data.size());
            } else {
                cut_part(arguments[i].type, arguments[i].data, local.arguments[i], mesh, d,
                         part.data);
            }
            devices.at(d, port.value) = std::move(part);
        }
    }
}

std::vector<Tensor> join_results(Interpreter& devices, const sharding::PartitionedProgram& local,
                                 const sharding::Mesh& mesh) {
    const ir::Program& program = devices.program();
    std::vector<Tensor> out;
    for (std::size_t i = 0; i < program.results.size(); ++i) {
        Tensor whole({program.type(program.results[i].value).dtype, local.result_types[i].shape});
        for (int d = 0; d < devices.devices(); ++d) {
            join_part(whole.type, whole.data, local.results[i], mesh, d,
                      devices.at(d, program.results[i].value).data);
        }
        out.push_back(std::move(whole));
    }
    return out;
}

std::vector<Tensor> interpret_on_mesh(const sharding::PartitionedProgram& local,
                                      const sharding::Mesh& mesh, std::span<const Tensor> arguments,
                                      const InterpretOptions& options) {
    Interpreter devices(local.program, options, static_cast<int>(mesh.devices()),
                        exchange_over(mesh));
    cut_arguments(devices, local, mesh, arguments);
    devices.run(local.program.body);
    return join_results(devices, local, mesh);
}

} // namespace weft::exec
