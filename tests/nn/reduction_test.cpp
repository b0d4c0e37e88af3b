// SPDX-License-Identifier: Apache-2.0
// Each reduction of a metric's terms against arithmetic on the host, padding left out.
#include "core/base/error.h"
#include "core/exec/interpreter.h"
#include "core/nn/loss_def.h"
#include "core/nn/reduction.h"
#include "tests/support/weft_test.h"

#include <algorithm>
#include <cmath>

using namespace weft;
using exec::Tensor;

namespace {

// Two samples that count and one of padding, two positions each.
const std::vector<float> kTerms = {0.5F, -3.0F, 2.0F, 4.0F, 100.0F, -100.0F};
const std::vector<float> kWeights = {1.0F, 1.0F, 0.0F};

Tensor tensor_of(ir::Shape shape, const std::vector<float>& values) {
    Tensor out({ir::DType::f32, shape});
    std::copy(values.begin(), values.end(), out.span<float>().begin());
    return out;
}

float reduced(const nn::ReductionDef& how) {
    ir::Program program;
    program.name = "reduce";
    const ir::ValueId terms =
        program.add_argument(ir::Role::batch, "terms", {ir::DType::f32, {3, 2}});
    const ir::ValueId weights =
        program.add_argument(ir::Role::batch, "weights", {ir::DType::f32, {3}});
    ops::Builder b(program, program.body);
    const ir::ValueId own = how.of_terms(b, terms, weights);
    const ir::ValueId start = ops::constant(b, how.start);
    program.add_result(ir::Role::output, "y", how.join(b, start, own));
    const std::vector<Tensor> arguments = {tensor_of({3, 2}, kTerms), tensor_of({3}, kWeights)};
    return exec::interpret(program, arguments)[0].span<float>()[0];
}

} // namespace

class ReductionTest : public QObject {
    Q_OBJECT
private slots:
    void each_reduction_leaves_padding_out() {
        QCOMPARE(reduced(nn::reduction_named("sum", "test")), 0.5F - 3.0F + 2.0F + 4.0F);
        QCOMPARE(reduced(nn::reduction_named("mean", "test")), 0.5F - 3.0F + 2.0F + 4.0F);
        QVERIFY(nn::reduction_named("mean", "test").per_term);
        QVERIFY(!nn::reduction_named("sum", "test").per_term);
        QCOMPARE(reduced(nn::reduction_named("max", "test")), 4.0F);
        QCOMPARE(reduced(nn::reduction_named("min", "test")), -3.0F);
    }

    void batches_join_on_the_host_as_in_programs() {
        for (const char* name : {"sum", "max", "min"}) {
            const nn::ReductionDef& how = nn::reduction_named(name, "test");
            QCOMPARE(how.join_numbers(how.start, 7.0), 7.0);
        }
        QCOMPARE(nn::reduction_named("max", "test").join_numbers(2.0, -5.0), 2.0);
        QCOMPARE(nn::reduction_named("min", "test").join_numbers(2.0, -5.0), -5.0);
        QCOMPARE(nn::reduction_named("mean", "test").join_numbers(2.0, -5.0), -3.0);
    }

    void a_batch_whose_term_is_no_number_leaves_none() {
        const double none = std::nan("");
        for (const char* name : {"sum", "mean", "max", "min"}) {
            const nn::ReductionDef& how = nn::reduction_named(name, "test");
            QVERIFY2(std::isnan(how.join_numbers(none, 7.0)), name);
            QVERIFY2(std::isnan(how.join_numbers(7.0, none)), name);
        }
    }

    void an_unknown_reduction_is_an_error_that_lists_the_known_ones() {
        try {
            nn::reduction_named("avg", "metric accuracy");
            QFAIL("no such reduction");
        } catch (const Error& error) {
            QCOMPARE(error.kind(), ErrorKind::usage);
            QCOMPARE(error.where(), std::string("metric accuracy"));
            QVERIFY(error.text().find("'avg'") != std::string::npos);
            QCOMPARE(error.hint(), std::string("one of mean, sum, max, min, mean_of_samples"));
        }
    }

    void every_metric_names_a_reduction_that_there_is() {
        for (const nn::MetricDef* metric : nn::kMetrics) {
            QCOMPARE(nn::reduction_named(metric->reduction, metric->name).name, metric->reduction);
        }
    }
};

WEFT_TEST(ReductionTest)
#include "reduction_test.moc"
