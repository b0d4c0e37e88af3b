// SPDX-License-Identifier: Apache-2.0
#include "tests/kernels/cases/cases.h"

namespace weft::test {
namespace {

struct MatmulSizes {
    std::int64_t m, k, n;
};
constexpr MatmulSizes kMatmulSizes[] = {{1, 1, 1},     {3, 5, 7},     {64, 64, 64},
                                        {33, 129, 65}, {17, 784, 10}, {1, 300, 33}};

Call matmul(weft_dtype in, weft_dtype out, MatmulSizes s, const Shape& batch, bool shared, bool tx,
            bool ty) {
    auto shape = [&](std::int64_t rows, std::int64_t columns, bool turned, bool batched) {
        Shape result = batched ? batch : Shape{};
        result.push_back(turned ? columns : rows);
        result.push_back(turned ? rows : columns);
        return result;
    };
    return {"matmul",
            {noise(in, shape(s.m, s.k, tx, true), 51), noise(in, shape(s.k, s.n, ty, !shared), 52)},
            {type_of(out, shape(s.m, s.n, false, true))},
            {flag("transpose_x", tx), flag("transpose_y", ty), flag("wide", in != out)},
            {},
            {}};
}

void add_matmuls(std::vector<Case>& cases, weft_dtype in, weft_dtype out) {
    for (const MatmulSizes& s : kMatmulSizes) {
        for (const bool tx : {false, true}) {
            for (const bool ty : {false, true}) {
                cases.push_back(
                    {"matmul", matmul(in, out, s, {}, true, tx, ty), sum_tolerance(out, s.k)});
                cases.push_back({"matmul batched", matmul(in, out, s, {2, 3}, false, tx, ty),
                                 sum_tolerance(out, s.k)});
            }
        }
        cases.push_back({"matmul one right side", matmul(in, out, s, {4}, true, false, true),
                         sum_tolerance(out, s.k)});
        cases.push_back({"matmul one right side", matmul(in, out, s, {4}, true, true, false),
                         sum_tolerance(out, s.k)});
        for (const bool bias : {false, true}) {
            for (const weft_dtype bias_type : {WEFT_F32, in}) {
                Call call{"linear",
                          {noise(in, {2, s.m, s.k}, 53), noise(in, {s.k, s.n}, 54)},
                          {type_of(out, {2, s.m, s.n})},
                          {flag("wide", in != out)},
                          {},
                          {}};
                if (bias) {
                    call.inputs.push_back(noise(bias_type, {s.n}, 55));
                }
                cases.push_back({"linear", std::move(call), sum_tolerance(out, s.k)});
            }
        }
    }
}

/// Products large enough for matrix tiles, whose last tiles are not full: one block of results,
/// several panels of rows and columns, and a depth that is summed in chunks.
void add_large(std::vector<Case>& cases) {
    for (const MatmulSizes& s : {MatmulSizes{95, 130, 80}, {70, 1000, 1100}, {158, 3300, 90}}) {
        for (const weft_dtype out : {WEFT_BF16, WEFT_F32}) {
            for (const int turned : {0, 1, 2, 3}) {
                cases.push_back({"matmul large",
                                 matmul(WEFT_BF16, out, s, {}, true, turned % 2 != 0, turned > 1),
                                 sum_tolerance(out, s.k)});
            }
            for (const weft_dtype bias : {WEFT_F32, WEFT_BF16}) {
                cases.push_back({"linear large",
                                 {"linear",
                                  {noise(WEFT_BF16, {s.m, s.k}, 73),
                                   noise(WEFT_BF16, {s.k, s.n}, 74), noise(bias, {s.n}, 75)},
                                  {type_of(out, {s.m, s.n})},
                                  {flag("wide", out == WEFT_F32)},
                                  {},
                                  {}},
                                 sum_tolerance(out, s.k)});
            }
        }
    }
}

/// Products of operands that are rounded first.
void add_rounded(std::vector<Case>& cases) {
    // What reads f32 in full is off by the rounding of both operands: 2^-11 of each term.
    for (const MatmulSizes& s : kMatmulSizes) {
        Call call = matmul(WEFT_F32, WEFT_F32, s, {}, true, false, false);
        call.attributes.push_back(text("operands", "tf32"));
        cases.push_back(
            {"matmul tf32", std::move(call), {0x1p-10, static_cast<double>(s.k) * 0x1p-10}});
    }
    // 8-bit numbers are exact everywhere once they are rounded, products of them too.
    for (const MatmulSizes& s : {MatmulSizes{16, 16, 16}, {48, 80, 32}, {80, 144, 112}}) {
        for (const char* formats : {"e4m3 e4m3", "e5m2 e4m3", "e4m3 e5m2"}) {
            for (const weft_dtype out : {WEFT_BF16, WEFT_F32}) {
                for (const int turned : {0, 1, 2, 3}) {
                    Call call = matmul(WEFT_BF16, out, s, {}, true, turned % 2 != 0, turned > 1);
                    call.attributes.push_back(text("operands", formats));
                    cases.push_back({std::string("matmul ") + formats, std::move(call),
                                     sum_tolerance(out, s.k)});
                }
            }
            Call call{"linear",
                      {noise(WEFT_BF16, {3, s.m, s.k}, 62), noise(WEFT_BF16, {s.k, s.n}, 63),
                       noise(WEFT_BF16, {s.n}, 64)},
                      {type_of(WEFT_BF16, {3, s.m, s.n})},
                      {text("operands", formats)},
                      {},
                      {}};
            cases.push_back(
                {std::string("linear ") + formats, std::move(call), sum_tolerance(WEFT_BF16, s.k)});
        }
    }
}

/// Products with what follows them, of sizes that the library takes and of others.
void add_followed(std::vector<Case>& cases) {
    for (const MatmulSizes& s :
         {MatmulSizes{16, 24, 32}, {33, 129, 65}, {64, 40, 24}, {70, 190, 90}}) {
        for (const weft_dtype dtype : {WEFT_F32, WEFT_BF16, WEFT_F16}) {
            const Shape rows = {2, s.m, s.n};
            for (const bool bias : {false, true}) {
                Call call{"linear_gelu",
                          {noise(dtype, {2, s.m, s.k}, 65), noise(dtype, {s.k, s.n}, 66)},
                          {type_of(dtype, rows), type_of(dtype, rows)},
                          {},
                          {},
                          {}};
                if (bias) {
                    call.inputs.push_back(noise(dtype, {s.n}, 67));
                }
                // Of a product that was rounded first, by a quarter of the relative error at most,
                // where the library has not both in one: gelu changes by |x gelu'(x)| times that,
                // below 0.2 where x is negative and below 1.3 |gelu(x)| where it is not.
                const Tolerance once = sum_tolerance(dtype, s.k);
                cases.push_back({"linear_gelu",
                                 std::move(call),
                                 {2 * once.relative, once.absolute + 0.05 * once.relative}});
            }
            cases.push_back({"matmul_gelu_grad",
                             {"matmul_gelu_grad",
                              {noise(dtype, {2, s.m, s.k}, 68), noise(dtype, {s.n, s.k}, 69),
                               noise(dtype, rows, 70)},
                              {type_of(dtype, rows)},
                              {flag("transpose_y")},
                              {},
                              {}},
                             sum_tolerance(dtype, s.k)});
            cases.push_back({"matmul_sums",
                             {"matmul_sums",
                              {noise(dtype, {s.k, s.m}, 71), noise(dtype, {s.k, s.n}, 72)},
                              {type_of(WEFT_F32, {s.m, s.n}), type_of(WEFT_F32, {s.n})},
                              {flag("transpose_x"), flag("wide", dtype != WEFT_F32)},
                              {},
                              {}},
                             sum_tolerance(WEFT_F32, s.k)});
        }
    }
}

/// Products that are added to a sum, of the operands' type or wider.
void add_to_sums(std::vector<Case>& cases) {
    for (const MatmulSizes& s : {MatmulSizes{16, 24, 32}, {33, 129, 65}, {70, 190, 90}}) {
        for (const weft_dtype dtype : {WEFT_F32, WEFT_BF16, WEFT_F16}) {
            for (const weft_dtype out : {WEFT_F32, dtype}) {
                cases.push_back({"matmul_add of weights",
                                 {"matmul_add",
                                  {noise(dtype, {s.k, s.m}, 73), noise(dtype, {s.k, s.n}, 74),
                                   noise(out, {s.m, s.n}, 75)},
                                  {type_of(out, {s.m, s.n})},
                                  {flag("transpose_x"), flag("wide", out != dtype)},
                                  {},
                                  {}},
                                 sum_tolerance(out, s.k)});
                cases.push_back({"matmul_add in a batch",
                                 {"matmul_add",
                                  {noise(dtype, {2, s.m, s.k}, 76), noise(dtype, {2, s.n, s.k}, 77),
                                   noise(out, {2, s.m, s.n}, 78)},
                                  {type_of(out, {2, s.m, s.n})},
                                  {flag("transpose_y"), flag("wide", out != dtype)},
                                  {},
                                  {}},
                                 sum_tolerance(out, s.k)});
            }
        }
    }
}

/// Rows with an id each, of which some stand for no row.
void add_rows(std::vector<Case>& cases, std::int64_t width) {
    Tensor repeated = indices({13, 7}, 62, 20);
    Tensor different = indices({9}, 63, 1);
    for (std::size_t i = 0; i < 9; ++i) {
        different.set(i, static_cast<double>(i * 7 % 30));
    }
    for (const std::size_t i : {0, 5}) {
        repeated.set(i, -1);
        different.set(i, -1);
    }
    for (const weft_dtype dtype : {WEFT_F32, WEFT_BF16, WEFT_F16}) {
        cases.push_back({"read_rows",
                         {"read_rows",
                          {noise(dtype, {50, width}, 64), indices({7, 11}, 65, 50)},
                          {type_of(dtype, {7, 11, width})},
                          {},
                          {},
                          {}},
                         {0.0, 0.0}});
        cases.push_back({"sum_rows",
                         {"sum_rows",
                          {repeated, noise(dtype, {13, 7, width}, 66)},
                          {type_of(WEFT_I32, {13, 7}), type_of(WEFT_F32, {13, 7, width})},
                          {},
                          {},
                          {}},
                         sum_tolerance(WEFT_F32, 10)});
        cases.push_back({"write_rows",
                         {"write_rows",
                          {noise(dtype, {30, width}, 67), different, noise(dtype, {9, width}, 68)},
                          {type_of(dtype, {30, width})},
                          {},
                          {},
                          {}},
                         {0.0, 0.0}});
    }
}

} // namespace

void add_matmul_cases(std::vector<Case>& cases) {
    add_rounded(cases);
    add_followed(cases);
    add_to_sums(cases);
    add_large(cases);
    add_matmuls(cases, WEFT_F32, WEFT_F32);
    add_matmuls(cases, WEFT_BF16, WEFT_BF16);
    add_matmuls(cases, WEFT_BF16, WEFT_F32);
    add_matmuls(cases, WEFT_F16, WEFT_F16);
    add_matmuls(cases, WEFT_F16, WEFT_F32);
    for (const weft_dtype dtype : {WEFT_F32, WEFT_BF16, WEFT_F16}) {
        for (const std::int64_t width : {1, 33, 384}) {
            cases.push_back({"embedding",
                             {"embedding",
                              {noise(dtype, {50, width}, 56), indices({7, 11}, 57, 50)},
                              {type_of(dtype, {7, 11, width})},
                              {},
                              {},
                              {}},
                             {0.0, 0.0}});
            cases.push_back({"embedding_grad",
                             {"embedding_grad",
                              {indices({90, 11}, 58, 50), noise(dtype, {90, 11, width}, 59)},
                              {type_of(WEFT_F32, {50, width})},
                              {integer("rows", 50)},
                              {},
                              {}},
                             sum_tolerance(WEFT_F32, 40)});
        }
    }
    for (const std::int64_t width : {1, 33, 384}) {
        add_rows(cases, width);
    }
    for (const weft_dtype dtype : {WEFT_BF16, WEFT_F16}) {
        cases.push_back({"embedding into less",
                         {"embedding",
                          {noise(WEFT_F32, {50, 24}, 60), indices({30}, 61, 50)},
                          {type_of(dtype, {30, 24})},
                          {},
                          {},
                          {}},
                         {0.0, 0.0}});
    }
}

} // namespace weft::test
