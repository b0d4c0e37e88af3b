// SPDX-License-Identifier: Apache-2.0
// Which layers make up which part of a pipeline.
#include "core/ir/text.h"
#include "core/stages/stage_map.h"
#include "tests/support/weft_test.h"

#include <numeric>
#include <random>

using namespace weft;
using namespace weft::stages;

namespace {

std::vector<Layer> layers_of(const std::vector<double>& flops) {
    std::vector<Layer> out;
    for (const double one : flops) {
        out.push_back({"layers." + std::to_string(out.size()), one});
    }
    return out;
}

double dearest(const std::vector<double>& flops, const std::vector<int>& counts) {
    double most = 0;
    std::size_t at = 0;
    for (const int count : counts) {
        double sum = 0;
        for (int i = 0; i < count; ++i) {
            sum += flops[at++];
        }
        most = std::max(most, sum);
    }
    return most;
}

/// The best of all ways to cut, by trying them.
double best_of_all(const std::vector<double>& flops, int parts, std::vector<int> counts = {}) {
    const auto used = std::accumulate(counts.begin(), counts.end(), 0);
    const int left = static_cast<int>(flops.size()) - used;
    if (static_cast<int>(counts.size()) + 1 == parts) {
        counts.push_back(left);
        return left >= 1 ? dearest(flops, counts) : 1e300;
    }
    double best = 1e300;
    for (int take = 1; take < left; ++take) {
        std::vector<int> more = counts;
        more.push_back(take);
        best = std::min(best, best_of_all(flops, parts, more));
    }
    return best;
}

} // namespace

class StageMapTest : public QObject {
    Q_OBJECT
private slots:
    void a_layer_is_what_a_numbered_path_names() {
        QCOMPARE(layer_of_path("blocks.3.mlp.up"), std::string_view("blocks.3"));
        QCOMPARE(layer_of_path("blocks.3"), std::string_view("blocks.3"));
        QCOMPARE(layer_of_path("stages.1.0.conv1"), std::string_view("stages.1.0"));
        QCOMPARE(layer_of_path("layers.12.layers.3"), std::string_view("layers.12"));
        QCOMPARE(layer_of_path("embedding.tokens"), std::string_view("embedding"));
        QCOMPARE(layer_of_path("head"), std::string_view("head"));
        QCOMPARE(layer_of_path(""), std::string_view(""));
    }

    void parts_are_as_even_as_layers_allow() {
        std::mt19937 random(7);
        for (int round = 0; round < 200; ++round) {
            std::vector<double> flops(3 + random() % 6);
            for (double& one : flops) {
                one = 1 + static_cast<double>(random() % 20);
            }
            const int parts = 1 + static_cast<int>(random() % flops.size());
            const std::vector<int> counts = balance(layers_of(flops), parts);
            QCOMPARE(static_cast<int>(counts.size()), parts);
            QCOMPARE(std::accumulate(counts.begin(), counts.end(), 0),
                     static_cast<int>(flops.size()));
            QVERIFY(std::all_of(counts.begin(), counts.end(), [](int n) { return n >= 1; }));
            QCOMPARE(dearest(flops, counts), best_of_all(flops, parts));
        }
    }

    void what_has_no_number_goes_with_its_neighbour() {
        const ir::Program program = ir::parse(R"(program train_step {
  in %0 state "embedding.tokens" : f32[8,4]
  in %1 state "position.weight" : f32[4]
  in %2 batch "inputs" : f32[2,8]
  %3 = matmul(%2, %0) : f32[2,4] @ "embedding" forward
  %4 = add(%3, %1) : f32[2,4] @ "" forward
  %5 = relu(%4) : f32[2,4] @ "blocks.0.mlp" forward
  %6 = relu(%5) : f32[2,4] @ "blocks.1.mlp" forward
  %7 = relu(%6) : f32[2,4] @ "norm" forward
  out %7 output "loss"
})");
        const LayerList list = list_layers(program);
        QCOMPARE(list.layers.size(), std::size_t(2));
        const StageMap map(list, {1, 1});
        QCOMPARE(map.part_of("embedding"), 0);
        QCOMPARE(map.part_of("embedding.tokens"), 0);
        QCOMPARE(map.part_of("optimizer.m/embedding.tokens"), 0);
        QCOMPARE(map.part_of("position.weight"), 0); // on no path: where it is read
        QCOMPARE(map.part_of("blocks.1.mlp.up.weight"), 1);
        QCOMPARE(map.part_of("norm.weight"), 1);
        QCOMPARE(map.part_of("update"), -1);
        QCOMPARE(QString::fromStdString(map.layers_text(1)), QString("blocks.1"));
        // The embedding's 2 x 8 x 4 multiply-adds count as the first layer's.
        QVERIFY(list.layers[0].flops > list.layers[1].flops + 100);
    }
};

WEFT_TEST(StageMapTest)
#include "stage_map_test.moc"
