// SPDX-License-Identifier: Apache-2.0
#include "core/sharding/partition.h"

#include "core/base/error.h"
#include "core/sharding/axis_list.h"
#include "core/sharding/explain.h"
#include "core/sharding/local_values.h"
#include "core/sharding/loop_sums.h"
#include "core/sharding/mesh_context.h"
#include "core/sharding/reshard.h"

#include <algorithm>

namespace weft::sharding {
namespace {

using ir::Op;
using ir::ValueId;
using ir::ValueIds;
using ops::Combine;
using ops::Partial;

class Partitioner {
public:
    Partitioner(const ir::Program& program, const ProgramAnnotations& annotations, const Mesh& mesh,
                std::stop_token stop)
        : whole_(program), annotations_(annotations), mesh_(mesh), stop_(std::move(stop)),
          rules_(program), propagation_(program, rules_, annotations, mesh, stop_),
          sums_(program, rules_, propagation_), resharder_(mesh, [this] { return coordinates(); }),
          values_(program, annotations, mesh, rules_, resharder_) {}

    PartitionedProgram run() {
        out_.program.name = whole_.name;
        out_.program.values.reserve(whole_.values.size() + whole_.values.size() / 2);
        for (const ir::Port& port : whole_.arguments) {
            add_argument(port);
        }
        ops::Builder b(out_.program, out_.program.body);
        emit_block(whole_.body, b);
        for (const ir::Port& port : whole_.results) {
            add_result(port, b);
        }
        for (LocalValue& one : values_.all()) {
            out_.values.push_back({one.id, std::move(one.own)});
        }
        return std::move(out_);
    }

private:
    ValueId coordinates() {
        if (!coordinates_.valid()) {
            // Every scope sees arguments of the program, so this may be asked for inside of a loop.
            coordinates_ = out_.program.add_argument(
                ir::Role::scalar, std::string(kCoordinates),
                {ir::DType::i64, {static_cast<std::int64_t>(mesh_.axes.size())}});
            out_.arguments.push_back(Sharding::replicated(1));
            out_.argument_types.push_back(out_.program.type(coordinates_));
        }
        return coordinates_;
    }

    void add_argument(const ir::Port& port) {
        const ir::Type& type = whole_.type(port.value);
        const auto found = annotations_.arguments.find(port.name);
        const Sharding stored = found != annotations_.arguments.end()
                                    ? found->second.stored
                                    : Sharding::replicated(type.shape.rank());
        const ValueId id =
            out_.program.add_argument(port.role, port.name, local_type(type, stored, mesh_));
        out_.program.value(id).name = whole_.value(port.value).name;
        const bool state = port.role == ir::Role::state;
        values_.at(port.value) = {id, stored, false, state, state ? &port : nullptr};
        out_.arguments.push_back(stored);
        out_.argument_types.push_back(type);
    }

    void add_result(const ir::Port& port, ops::Builder& b) {
        const auto found = annotations_.results.find(port.name);
        Sharding wanted = values_.at(port.value).own;
        if (port.role == ir::Role::state && found != annotations_.results.end()) {
            wanted = found->second;
        }
        wanted.partial.clear();
        Op reader;
        reader.kind = port.role == ir::Role::state ? "new " + port.name : port.name;
        reader.phase = whole_.name == "train_step" ? ir::Phase::update : ir::Phase::forward;
        b.set_phase(reader.phase);
        b.set_path("");
        out_.program.add_result(port.role, port.name, values_.get(port.value, wanted, reader, b));
        out_.results.push_back(wanted);
        out_.result_types.push_back(whole_.type(port.value));
    }

    void emit_block(const ir::Block& block, ops::Builder& b) {
        for (const Op& op : block.ops) {
            if (stop_.stop_requested()) {
                throw Error(ErrorKind::runtime, "program " + whole_.name,
                            "compilation was stopped while partitioning");
            }
            b.set_path(op.path);
            b.set_phase(op.phase);
            if (op.is_loop()) {
                emit_loop(op, b);
            } else {
                emit(op, b);
            }
        }
    }

    bool is_float(ValueId id) const { return ir::is_float(whole_.type(id).dtype); }

    /// Whether the op splits what it makes over all axes but those in common: a sum over the rest
    /// is reduced and scattered on its way in, and only its own part is left to be summed over the
    /// others. So groups that repeat a split accumulator exchange parts, and once.
    static bool splits_rest(const FactorSplits& splits, const std::vector<int>& axes,
                            const std::vector<int>& common) {
        return std::all_of(axes.begin(), axes.end(), [&](int axis) {
            const auto over = [&](const Split& split) { return contains(split.axes, axis); };
            return contains(common, axis) ||
                   std::any_of(splits.begin(), splits.end(), [&](const DimSharding& dim) {
                       return std::any_of(dim.begin(), dim.end(), over);
                   });
        });
    }

    /// Axes that may stay unsummed through the op. Takes them off the splits.
    std::vector<int> passing(const Op& op, FactorSplits& splits) {
        const Partial mode = partial_mode(whole_, op);
        std::vector<int> axes;
        std::vector<int> common; // to all terms
        int sums = 0;
        bool alike = true;
        bool first = true;
        const bool number = whole_.type(op.outputs[0]).shape.elements() == 1;
        for (const ValueId id : op.inputs) {
            const LocalValue& own = values_.at(id);
            if (own.zero || !is_float(id)) {
                continue;
            }
            sums += own.own.partial.empty() ? 0 : 1;
            // A number that is complete becomes a term more cheaply than a sum becomes complete.
            alike = alike && (number || axes.empty() || axes == own.own.partial);
            alike = alike && (number || !own.own.partial.empty());
            add_axes(axes, own.own.partial);
            common = first ? own.own.partial : axes_in_both(common, own.own.partial);
            first = false;
        }
        if (mode == Partial::together && !alike && !common.empty() &&
            splits_rest(splits, axes, common)) {
            axes = common;
            alike = true;
        }
        const bool fits_mode = mode == Partial::together ? alike : sums == 1;
        if (mode == Partial::resolve || axes.empty() || !fits_mode) {
            return {};
        }
        // A sum that could be split over its own axes is split when it is added up.
        for (DimSharding& dim : splits) {
            const auto over = [&](const Split& split) { return share(split.axes, axes); };
            if (mode != Partial::together && std::any_of(dim.begin(), dim.end(), over)) {
                return {};
            }
            std::erase_if(dim, over);
        }
        return axes;
    }

    void emit(const Op& op, ops::Builder& b) {
        const ops::OpDef& def = ops::op_def(op.kind);
        const ops::FactorRule& rule = rules_.of(op);
        FactorSplits splits = propagation_.factors(op);
        const std::vector<int> sums = passing(op, splits);
        const bool together = partial_mode(whole_, op) == Partial::together;
        ValueIds inputs;
        std::vector<ir::Type> input_types;
        for (std::size_t i = 0; i < op.inputs.size(); ++i) {
            Sharding wanted = placed(rule.inputs[i], splits, rule, mesh_);
            if (!values_.at(op.inputs[i]).own.partial.empty() ||
                (together && is_float(op.inputs[i]))) {
                wanted.partial = sums;
            }
            ValueId id = values_.get(op.inputs[i], wanted, op, b);
            id = masked(id, op.inputs[i], wanted, rule.inputs[i], splits, rule, b);
            inputs.push_back(id);
            input_types.push_back(b.type(id));
        }
        std::vector<Sharding> own;
        std::vector<ir::Type> output_types;
        for (std::size_t i = 0; i < op.outputs.size(); ++i) {
            own.push_back(placed(rule.outputs[i], splits, rule, mesh_));
            output_types.push_back(local_type(whole_.type(op.outputs[i]), own[i], mesh_));
        }
        const ops::OpView view{whole_, op};
        ir::Attributes attributes =
            def.localise != nullptr ? def.localise(view, input_types, output_types) : op.attributes;
        const bool divided = std::any_of(splits.begin(), splits.end(),
                                         [](const DimSharding& dim) { return !dim.empty(); });
        ValueIds results;
        if (def.split != nullptr && divided) {
            MeshContext context(b, view, rule, inputs, output_types, std::move(attributes), splits,
                                resharder_, mesh_);
            def.split(context);
            results = context.results();
        } else {
            results = b.emit_all(op.kind, inputs, std::move(attributes));
        }
        if (def.view) {
            values_.add_view(op);
        }
        for (std::size_t i = 0; i < op.outputs.size(); ++i) {
            finish_output(op, i, results[i], std::move(own[i]), sums, splits, rule, b);
            WEFT_CHECK(b.type(values_.at(op.outputs[i]).id) == output_types[i],
                       op_text(op) + " gives " + ir::to_text(b.type(results[i])) +
                           " on a device, not " + ir::to_text(output_types[i]));
        }
    }

    void finish_output(const Op& op, std::size_t i, ValueId result, Sharding own,
                       const std::vector<int>& sums, const FactorSplits& splits,
                       const ops::FactorRule& rule, ops::Builder& b) {
        own.partial = sums;
        std::vector<int> maxima;
        for (std::size_t f = 0; f < splits.size(); ++f) {
            const Combine combine = rule.factors[f].combine;
            const bool sum = combine == Combine::sum;
            if (has_factor(rule.outputs[i], f) || (!sum && combine != Combine::max)) {
                continue;
            }
            for (const Split& split : splits[f]) {
                add_axes(sum ? own.partial : maxima, split.axes);
            }
        }
        if (!maxima.empty()) {
            result =
                resharder_.all_reduce(b, result, maxima, "max", explain_within(op, maxima, mesh_));
        }
        const ValueId id = op.outputs[i];
        const bool zero = op.kind == "constant" && op.attributes.real("value") == 0.0;
        out_.program.value(result).name = whole_.value(id).name;
        values_.set_maker(id, op);
        const Op* summed_by = own.partial.empty()   ? nullptr
                              : own.partial == sums ? summed_before(op)
                                                    : &op;
        values_.at(id) = {result,           std::move(own), zero,     false,
                          slot_through(op), nullptr,        summed_by};
    }

    /// The slot whose elements an op puts elsewhere or casts: the only operand, of as many
    /// elements.
    const ir::Port* slot_through(const Op& op) {
        const bool through = op.inputs.size() == 1 && op.outputs.size() == 1 &&
                             whole_.type(op.inputs[0]).shape.elements() ==
                                 whole_.type(op.outputs[0]).shape.elements();
        return through ? values_.at(op.inputs[0]).slot : nullptr;
    }

    const Op* summed_before(const Op& op) {
        for (const ValueId input : op.inputs) {
            if (const Op* sums = values_.at(input).sums; sums != nullptr) {
                return sums;
            }
        }
        return nullptr;
    }

    /// Neutral elements in the padding of what is contracted.
    ValueId masked(ValueId id, ValueId whole_id, const Sharding& placement,
                   const std::vector<std::vector<int>>& operand, const FactorSplits& splits,
                   const ops::FactorRule& rule, ops::Builder& b) {
        const ir::Type& type = whole_.type(whole_id);
        if (!is_float(whole_id)) {
            return id;
        }
        for (std::size_t dim = 0; dim < operand.size(); ++dim) {
            std::size_t split = 0; // among those of the dimension
            for (const int number : operand[dim]) {
                const auto f = static_cast<std::size_t>(number);
                const ops::Factor& factor = rule.factors[f];
                const bool contracted = factor.combine != Combine::pointwise;
                for (const Split& one : splits[f]) {
                    if (contracted && deal(one, factor.size, mesh_).padding() != 0) {
                        id = resharder_.mask(b, id, static_cast<int>(dim), placement.dims[dim],
                                             split, type.shape[static_cast<int>(dim)],
                                             factor.neutral);
                    }
                    ++split;
                }
            }
        }
        return id;
    }

    // --- Loops -------------------------------------------------------------------------------

    static Sharding without_leading(const Sharding& sharding) {
        return {{sharding.dims.begin() + 1, sharding.dims.end()}, {}};
    }
    static Sharding with_leading(const Sharding& sharding) {
        Sharding out = sharding;
        out.dims.insert(out.dims.begin(), DimSharding());
        return out;
    }
    Sharding seen(ValueId id, ir::Phase phase) const {
        Sharding out;
        for (const Seen::Dim& dim : propagation_.seen(id, phase).dims) {
            out.dims.push_back(dim.splits);
        }
        return out;
    }

    void emit_loop(const Op& op, ops::Builder& b) {
        const ir::Block& body = op.body.front();
        const auto carried = static_cast<std::size_t>(op.attributes.integer("carried"));
        Op loop;
        loop.kind = op.kind;
        loop.attributes = op.attributes;
        loop.path = op.path;
        loop.phase = op.phase;
        ir::Block local;
        std::vector<Sharding> places;
        for (std::size_t i = 0; i < op.inputs.size(); ++i) {
            Sharding place = seen(body.arguments[i], op.phase);
            if (i < carried) {
                place.partial = sums_.unsummed(body, i);
                std::erase_if(place.partial, [&](int axis) { return place.uses(axis); });
                loop.inputs.push_back(values_.get(op.inputs[i], place, op, b));
            } else {
                // Whole along the loop: each iteration takes its slice, and sums nothing.
                place = values_.at(op.inputs[i]).own;
                place.dims[0] = DimSharding();
                place.partial.clear();
                loop.inputs.push_back(values_.get(op.inputs[i], place, op, b));
                place = without_leading(place);
            }
            const ValueId id =
                out_.program.add_value(local_type(whole_.type(body.arguments[i]), place, mesh_));
            local.arguments.push_back(id);
            LocalValue& argument = values_.at(body.arguments[i]);
            argument = {id, place, false, false, values_.at(op.inputs[i]).slot};
            if (i < carried && !whole_.value(op.outputs[i]).name.empty()) {
                argument.sum = &whole_.value(op.outputs[i]).name;
            }
            places.push_back(std::move(place));
        }
        ops::Builder inner(out_.program, local);
        const std::size_t mark = values_.mark();
        emit_block(body, inner);
        for (std::size_t i = 0; i < body.results.size(); ++i) {
            Sharding place = i < carried ? places[i] : values_.at(body.results[i]).own;
            if (i >= carried) {
                place.partial.clear();
            }
            Op reader;
            reader.kind = "sum over microsteps";
            reader.phase = ir::Phase::backward;
            inner.set_phase(reader.phase);
            inner.set_path(op.path);
            local.results.push_back(values_.get(body.results[i], place, reader, inner));
            finish_loop_output(op, i, i < carried ? place : with_leading(place), loop);
            values_.at(op.outputs[i]).sums = values_.at(body.results[i]).sums;
        }
        values_.forget(mark);
        loop.body.push_back(std::move(local));
        b.append(std::move(loop));
        b.set_phase(ir::Phase::update);
        for (const ValueId id : op.outputs) {
            settle(id, b);
        }
    }

    /// Gradients are summed up and placed as the update wants them once, whoever reads them.
    void settle(ValueId id, ops::Builder& b) {
        const std::string& name = whole_.value(id).name;
        const auto found = annotations_.values.find(name);
        if (found == annotations_.values.end()) {
            return;
        }
        Op reader;
        reader.kind = "update";
        reader.phase = ir::Phase::update;
        b.set_path(name);
        const ValueId settled = values_.get(id, found->second.stored, reader, b);
        out_.program.value(settled).name = name;
        values_.at(id) = {settled, found->second.stored};
    }

    void finish_loop_output(const Op& op, std::size_t i, const Sharding& place, Op& loop) {
        const ValueId whole_id = op.outputs[i];
        const ValueId id = out_.program.add_value(local_type(whole_.type(whole_id), place, mesh_),
                                                  whole_.value(whole_id).name);
        loop.outputs.push_back(id);
        values_.at(whole_id) = {id, place};
    }

    const ir::Program& whole_;
    const ProgramAnnotations& annotations_;
    const Mesh& mesh_;
    const std::stop_token stop_;
    const RuleTable rules_;
    const Propagation propagation_;
    const LoopSums sums_;
    ValueId coordinates_;
    PartitionedProgram out_;
    const Resharder resharder_;
    LocalValues values_;
};

} // namespace

PartitionedProgram partition(const ir::Program& program, const ProgramAnnotations& annotations,
                             const Mesh& mesh, std::stop_token stop) {
    return Partitioner(program, annotations, mesh, std::move(stop)).run();
}

} // namespace weft::sharding
