// SPDX-License-Identifier: Apache-2.0
// Data exchange between the devices of a mesh, over groups along some of its axes. Parts stand
// along a leading dimension of the group's size n, in the order of the group, so that what travels
// is dense. The partition pass makes these, each with its cause; the mesh runs them
// (core/exec/comm). Messages between the stages of a pipeline are made by core/stages.
#include "core/ops/op_list.h"
#include "core/ops/rules.h"

namespace weft::ops {
namespace {

constexpr AttributeDef kAxes{"axes", AttributeKind::text, true, "mesh axes, major to minor: a,b"};
constexpr AttributeDef kCount{"count", AttributeKind::integer, true, "devices of a group"};
constexpr AttributeDef kCause{"cause", AttributeKind::text, true, "what asked for the exchange"};
constexpr AttributeDef kWhat{"what", AttributeKind::text, false, "what travels"};
constexpr AttributeDef kWhy{"why", AttributeKind::text, false, "what makes it necessary"};
constexpr AttributeDef kTensor{"tensor", AttributeKind::text, false,
                               "the state slot that `why` is about"};
constexpr AttributeDef kPeer{"peer", AttributeKind::integer, true, "coordinate on the axis"};
constexpr int kAny = std::numeric_limits<int>::max();
constexpr AttributeDef kOverlaps{"overlaps", AttributeKind::text, false,
                                 "phase whose work it can hide behind"};
constexpr AttributeDef kReduce{"reduce", AttributeKind::text, true, "sum or max"};

std::string want_reduce(const OpView& view) {
    const std::string& how = view.attributes().text("reduce");
    return how == "sum" || how == "max" ? "" : "reduce is sum or max, not " + how;
}

// x [n, ...] with n = count.
std::string want_parts(const OpView& view, int i = 0) {
    const ir::Type& x = view.input(i);
    const std::int64_t count = view.attributes().integer("count");
    return x.shape.rank() > 0 && x.shape[0] == count
               ? ""
               : "x needs a leading dimension of " + word(count) + ", but is " + word(x);
}

Inferred infer_all_reduce(const OpView& view) {
    const std::string wrong = want_reduce(view);
    Inferred out{{}, wrong.empty() ? "" : wrong};
    for (int i = 0; i < view.inputs() && wrong.empty(); ++i) {
        out.outputs.push_back(view.input(i));
    }
    return out;
}

Inferred infer_all_gather(const OpView& view) {
    const ir::Type& x = view.input(0);
    if (x.shape.rank() == ir::Shape::kMaxRank) {
        return fail("x has no room for the dimension of the parts");
    }
    ir::Type out{x.dtype, {view.attributes().integer("count")}};
    for (const std::int64_t extent : x.shape) {
        out.shape.push_back(extent);
    }
    return {{out}, {}};
}

Inferred infer_reduce_scatter(const OpView& view) {
    std::string wrong = want_reduce(view);
    Inferred out;
    for (int i = 0; i < view.inputs() && wrong.empty(); ++i) {
        wrong = want_parts(view, i);
        if (wrong.empty()) {
            const ir::Type& x = view.input(i);
            out.outputs.push_back({x.dtype, ir::Shape(x.shape.span().subspan(1))});
        }
    }
    return wrong.empty() ? out : fail(wrong);
}

Inferred infer_all_to_all(const OpView& view) {
    const std::string wrong = want_parts(view);
    return wrong.empty() ? Inferred{{view.input(0)}, {}} : fail(wrong);
}

Inferred infer_permute(const OpView& view) {
    return {{view.input(0)}, {}};
}

// Messages along one axis, to or from the device at the coordinate `peer` of it.
Inferred infer_send(const OpView&) {
    return {{ir::Type{ir::DType::i32, {}}}, {}};
}

Inferred infer_receive(const OpView& view) {
    const auto dtype = ir::parse_dtype(view.attributes().text("dtype"));
    return dtype ? Inferred{{ir::Type{*dtype, ir::Shape(view.attributes().list("shape"))}}, {}}
                 : fail("there is no element type " + view.attributes().text("dtype"));
}

// What one device reads and writes in its own memory; the wire is the business of core/cost.
OpCost exchange_cost(const OpView& view) {
    OpCost out;
    for (int i = 0; i < view.inputs(); ++i) {
        out.bytes += static_cast<double>(view.input(i).bytes());
    }
    for (int i = 0; i < view.outputs(); ++i) {
        out.bytes += static_cast<double>(view.output(i).bytes());
    }
    return out;
}

OpDef in_place(OpDef op) {
    op.over_operands = true;
    return op;
}

OpDef collective(std::string_view name, std::string_view help, std::vector<AttributeDef> attributes,
                 Inferred (*infer)(const OpView&), int most = 1, int least = 1) {
    attributes.insert(attributes.begin(), {kAxes, kCount, kCause, kWhat, kWhy, kTensor});
    return {.name = name,
            .help = help,
            .min_inputs = least,
            .max_inputs = most,
            .attributes = std::move(attributes),
            .infer = infer,
            .factors = whole_factors,
            .cost = exchange_cost,
            .collective = true};
}

} // namespace

const OpDef kAllReduce =
    in_place(collective("all_reduce", "x... -> elementwise sum or maximum over the group",
                        {kReduce, kOverlaps}, infer_all_reduce, kAny));
const OpDef kAllGather =
    collective("all_gather", "x [...] -> every device's x: [n, ...]", {}, infer_all_gather);
const OpDef kReduceScatter =
    collective("reduce_scatter", "x [n, ...]... -> own part of the sum or maximum: [...]",
               {kReduce, kOverlaps}, infer_reduce_scatter, kAny);
const OpDef kAllToAll = collective("all_to_all", "x [n, ...]: part i goes to device i -> [n, ...]",
                                   {}, infer_all_to_all);
const OpDef kPermute =
    collective("permute", "x -> x of the device `shift` places before, around the group",
               {{"shift", AttributeKind::integer, true, "places"}}, infer_permute);

const OpDef kSend =
    collective("send", "x -> a ticket: offers x to a device and goes on; x stays until sent",
               {kPeer}, infer_send);
const OpDef kSent =
    collective("sent", "x, ticket: returns when the receiver has x", {kPeer}, infer_send, 2, 2);
const OpDef kReceive = collective("receive", "-> the next message of a device",
                                  {kPeer,
                                   {"dtype", AttributeKind::text, true, "element type"},
                                   {"shape", AttributeKind::list, true, "extents"}},
                                  infer_receive, 0, 0);

} // namespace weft::ops
