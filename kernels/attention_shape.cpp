// SPDX-License-Identifier: Apache-2.0
#include "kernels/attention_shape.h"

#include "kernels/philox.h"

#include <cmath>

namespace weft::kernels {

AttentionShape attention_shape(const Op& op, int optional) {
    const Type& q = op.input(0);
    const Type& k = op.input(1);
    require(q.rank == 4 && k.rank == 4, "attention takes [N,T,H,D] and [N,S,K,D]");
    require(same_shape(k, op.input(2)), "keys and values differ in shape");
    AttentionShape a{q.shape[0], q.shape[1],        k.shape[1], q.shape[2], k.shape[2],
                     q.shape[3], op.flag("causal"), false,      0.0,        0.0,
                     0,          op.has("extents"), q.shape[2]};
    require(k.shape[0] == a.n && k.shape[3] == a.d, "queries and keys differ in N or D");
    require(a.k > 0 && a.h % a.k == 0, "the query heads are no multiple of the key heads");
    require(!a.causal || a.s >= a.t, "causal attention has fewer keys than queries");
    a.scale = op.real("scale", 1.0 / std::sqrt(static_cast<double>(a.d)));
    a.rate = op.real("rate", 0.0);
    require(a.rate >= 0.0 && a.rate < 1.0, "the dropout rate is not in [0, 1)");
    a.ring = op.has("ring");
    if (op.has("packed") && op.flag("packed")) {
        a.positions_operand = optional;
        require(a.causal && a.t == a.s, "packed attention is not causal attention of itself");
        require(op.inputs() > optional && op.input(optional).dtype == WEFT_I32 &&
                    element_count(op.input(optional)) == a.n * a.t,
                "the positions of packed sequences are not i32[N,T]");
    }
    const int random = optional + (a.positions_operand >= 0 ? 1 : 0);
    a.random_operand = random;
    a.dropout = a.rate > 0.0 && op.inputs() > random + (a.ring ? 1 : 0);
    require(a.rate == 0.0 || a.dropout, "attention dropout needs the random operand");
    if (a.dropout) {
        require(op.input(random).dtype == WEFT_I64 &&
                    element_count(op.input(random)) == (a.part ? 5 : 3),
                "the random operand is not i64[3] or i64[5]");
        if (a.part) {
            const Dims extents = op.list("extents");
            require(extents.size() == 1, "extents are not [heads]");
            a.all_heads = extents[0];
        }
        a.stream = stream_hash(op.text("stream"));
    }
    if (a.ring) {
        const Dims ring = op.list("ring");
        a.place_operand = op.inputs() - 1;
        const Type& place = op.input(a.place_operand);
        require(ring.size() == 3 && a.t == a.s && ring[1] >= 0 && ring[1] < ring[2],
                "ring is not [all positions, step, devices] of equal parts");
        require(place.dtype == WEFT_I64 && element_count(place) == 1,
                "the place on a ring is not i64[1]");
        a.positions = ring[0];
        a.step = ring[1];
        a.devices = ring[2];
    }
    return a;
}

AttentionShape attention_op(const Op& op) {
    const AttentionShape a = attention_shape(op, 3);
    require(same_shape(op.output(0), op.input(0)), "the output is not [N,T,H,D]");
    require(element_count(op.output(1)) == a.n * a.h * a.t, "logsumexp is not [N,H,T]");
    return a;
}

AttentionShape attention_grad_op(const Op& op) {
    const AttentionShape a = attention_shape(op, 6);
    require(same_shape(op.input(3), op.input(0)) && same_shape(op.input(5), op.input(0)) &&
                same_shape(op.output(0), op.input(0)),
            "out, dout or dq is not [N,T,H,D]");
    require(same_shape(op.output(1), op.input(1)) && same_shape(op.output(2), op.input(1)),
            "dk or dv is not [N,S,K,D]");
    require(element_count(op.input(4)) == a.n * a.h * a.t, "logsumexp is not [N,H,T]");
    return a;
}

} // namespace weft::kernels
