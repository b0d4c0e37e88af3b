// SPDX-License-Identifier: Apache-2.0
// Runs a partitioned program on every device of a mesh in step, op by op: the exchanges are done
// here in plain sight on all devices' values, so that nothing depends on threads or on
// core/exec/comm. Straight-line programs only.
#pragma once

#include "core/base/text.h"
#include "core/exec/interpreter.h"
#include "core/exec/placement_copy.h"
#include "core/sharding/partition.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <vector>

namespace weft::test {

class MeshInterpreter {
public:
    MeshInterpreter(const sharding::PartitionedProgram& local, const sharding::Mesh& mesh)
        : local_(local), mesh_(mesh), values_(static_cast<std::size_t>(mesh.devices())) {}

    /// Whole arrays in, by argument of the program (the coordinates are made here); whole arrays
    /// out.
    std::vector<exec::Tensor> run(const std::vector<exec::Tensor>& arguments) {
        const ir::Program& program = local_.program;
        for (std::size_t i = 0; i < program.arguments.size(); ++i) {
            for (int d = 0; d < devices(); ++d) {
                exec::Tensor part(program.type(program.arguments[i].value));
                if (program.arguments[i].name == sharding::kCoordinates) {
                    const auto place = mesh_.coordinates(d);
                    std::memcpy(part.data.data(), place.data(), part.data.size());
                } else {
                    exec::cut_part(arguments[i].type, arguments[i].data, local_.arguments[i], mesh_,
                                   d, part.data);
                }
                at(d, program.arguments[i].value) = std::move(part);
            }
        }
        for (const ir::Op& op : program.body.ops) {
            ops::op_def(op.kind).collective ? exchange(op) : compute(op);
        }
        std::vector<exec::Tensor> out;
        for (std::size_t i = 0; i < program.results.size(); ++i) {
            exec::Tensor whole(local_.result_types[i]);
            for (int d = 0; d < devices(); ++d) {
                exec::join_part(whole.type, whole.data, local_.results[i], mesh_, d,
                                at(d, program.results[i].value).data);
            }
            out.push_back(std::move(whole));
        }
        return out;
    }

private:
    int devices() const { return static_cast<int>(mesh_.devices()); }
    exec::Tensor& at(int device, ir::ValueId id) {
        return values_[static_cast<std::size_t>(device)][id.index];
    }

    void compute(const ir::Op& op) {
        for (int d = 0; d < devices(); ++d) {
            ir::Program one;
            std::vector<exec::Tensor> operands;
            ir::Op copy = op;
            for (ir::ValueId& id : copy.inputs) {
                operands.push_back(at(d, id));
                id = one.add_argument(ir::Role::batch, "x" + std::to_string(operands.size()),
                                      operands.back().type);
            }
            for (ir::ValueId& id : copy.outputs) {
                id = one.add_value(local_.program.type(id));
            }
            const auto outputs = copy.outputs;
            one.body.ops.push_back(std::move(copy));
            for (const ir::ValueId id : outputs) {
                one.add_result(ir::Role::output, "y" + std::to_string(id.index), id);
            }
            auto results = exec::interpret(one, operands);
            for (std::size_t i = 0; i < results.size(); ++i) {
                at(d, op.outputs[i]) = std::move(results[i]);
            }
        }
    }

    void exchange(const ir::Op& op) {
        std::vector<int> axes;
        for (const std::string& name : split(op.attributes.text("axes"), ',')) {
            axes.push_back(mesh_.find(name));
        }
        for (const auto& group : mesh_.groups(axes)) {
            for (std::size_t operand = 0; operand < op.inputs.size(); ++operand) {
                exchange(op, group, operand);
            }
        }
    }

    void exchange(const ir::Op& op, const std::vector<std::int64_t>& group, std::size_t operand) {
        std::vector<exec::Tensor> in;
        for (const std::int64_t device : group) {
            in.push_back(at(static_cast<int>(device), op.inputs[operand]));
        }
        const std::size_t n = group.size();
        for (std::size_t rank = 0; rank < n; ++rank) {
            exec::Tensor out(local_.program.type(op.outputs[operand]));
            const std::size_t part =
                op.kind == "all_gather" ? in[0].data.size() : in[0].data.size() / n;
            if (op.kind == "all_reduce" || op.kind == "reduce_scatter") {
                const std::size_t offset = op.kind == "all_reduce" ? 0 : rank * part;
                combine(in, offset, op.attributes.text("reduce") == "max", out);
            } else if (op.kind == "permute") {
                const auto shift = static_cast<std::size_t>(op.attributes.integer("shift"));
                out.data = in[(rank + n - shift % n) % n].data;
            } else { // all_gather, all_to_all: part r comes from device r
                for (std::size_t r = 0; r < n; ++r) {
                    const std::size_t from = op.kind == "all_gather" ? 0 : rank * part;
                    std::memcpy(out.data.data() + r * part, in[r].data.data() + from, part);
                }
            }
            at(static_cast<int>(group[rank]), op.outputs[operand]) = std::move(out);
        }
    }

    static void combine(std::vector<exec::Tensor>& in, std::size_t offset, bool max,
                        exec::Tensor& out) {
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

    const sharding::PartitionedProgram& local_;
    const sharding::Mesh& mesh_;
    std::vector<std::map<std::int32_t, exec::Tensor>> values_;
};

} // namespace weft::test
