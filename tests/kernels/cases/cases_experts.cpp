// SPDX-License-Identifier: Apache-2.0
#include "tests/kernels/cases/cases.h"

namespace weft::test {
namespace {

/// Places [N, T, K]: numbers below `rows`, and -1 for what was dropped. Places may be named twice.
Tensor places(const Shape& shape, std::int64_t rows) {
    Tensor out = indices(shape, 301, rows + 2);
    for (std::int64_t i = 0; i < out.count(); ++i) {
        out.set(i, out.get(i) >= static_cast<double>(rows) ? -1.0 : out.get(i));
    }
    return out;
}

void add_choices(std::vector<Case>& cases, const Shape& rows, std::int64_t experts,
                 std::int64_t k) {
    Shape x = rows;
    x.push_back(experts);
    Shape chosen = rows;
    chosen.push_back(k);
    cases.push_back({"top_k",
                     {"top_k",
                      {noise(WEFT_F32, x, 302)},
                      {type_of(WEFT_F32, chosen), type_of(WEFT_I32, chosen)},
                      {integer("k", k)},
                      {},
                      {}},
                     kExact});
    cases.push_back({"top_k_grad",
                     {"top_k_grad",
                      {indices(chosen, 303, experts), noise(WEFT_F32, chosen, 304)},
                      {type_of(WEFT_F32, x)},
                      {integer("extent", experts)},
                      {},
                      {}},
                     sum_tolerance(WEFT_F32, k)}); // an index may come twice
    if (rows.size() == 2) {
        cases.push_back({"expert_rows",
                         {"expert_rows",
                          {indices(chosen, 305, experts)},
                          {type_of(WEFT_I32, chosen)},
                          {integer("experts", experts), integer("capacity", 2)},
                          {},
                          {}},
                         kExact});
    }
}

void add_moves(std::vector<Case>& cases, weft_dtype dtype, const Shape& enac, std::int64_t tokens,
               std::int64_t choices) {
    const Shape ntk{enac[1], tokens, choices};
    const Shape ntc{enac[1], tokens, enac[3]};
    const Tensor rows = places(ntk, enac[0] * enac[2]);
    const Tensor gates = noise(WEFT_F32, ntk, 306, 0.0, 1.0);
    const std::vector<Attribute> sizes = {integer("experts", enac[0]),
                                          integer("capacity", enac[2])};
    // A row that several tokens name is rounded after each of them.
    Tolerance sum = sum_tolerance(dtype, tokens * choices);
    sum.absolute += 2.0 * relative_error(dtype, 0.0);
    for (const bool gated : {false, true}) {
        std::vector<Tensor> in = {noise(dtype, ntc, 307), rows};
        std::vector<Tensor> back = {noise(dtype, enac, 308), rows};
        if (gated) {
            in.push_back(gates);
            back.push_back(gates);
        }
        cases.push_back({"dispatch", {"dispatch", in, {type_of(dtype, enac)}, sizes, {}, {}}, sum});
        cases.push_back({"combine",
                         {"combine", back, {type_of(dtype, ntc)}, {}, {}, {}},
                         sum_tolerance(dtype, choices)});
    }
    cases.push_back({"gate_grad",
                     {"gate_grad",
                      {noise(dtype, enac, 309), rows, noise(dtype, ntc, 310)},
                      {type_of(WEFT_F32, ntk)},
                      {},
                      {},
                      {}},
                     sum_tolerance(WEFT_F32, enac[3])});
}

} // namespace

void add_expert_cases(std::vector<Case>& cases) {
    add_choices(cases, {5}, 3, 1);
    add_choices(cases, {3, 17}, 8, 2);
    add_choices(cases, {2, 700}, 33, 6);
    add_choices(cases, {4, 9}, 4, 4);
    for (const weft_dtype dtype : {WEFT_F32, WEFT_BF16, WEFT_F16}) {
        add_moves(cases, dtype, {1, 1, 1, 1}, 1, 1);
        add_moves(cases, dtype, {3, 2, 5, 7}, 6, 2);
        add_moves(cases, dtype, {8, 3, 20, 129}, 65, 2);
    }
}

} // namespace weft::test
