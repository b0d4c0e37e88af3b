// SPDX-License-Identifier: Apache-2.0
// What nodes give by the operators' specification, and what is told of those that train otherwise
// than their author may think.
#include "core/nn/models/graph_text.h"
#include "tests/support/weft_test.h"
#include "tests/unit/onnx_import/onnx_folder.h"

#include <map>

using namespace weft;
using namespace weft::test;

class OnnxNumbersTest : public QObject, private test::OnnxFolder {
    Q_OBJECT

    /// The numbers of y = x + g, where g [2] is made by nodes of whole constants.
    std::vector<double> given(std::vector<Writer> nodes, std::vector<Writer> tensors) const {
        nodes.push_back(node("CastLike", {"g", "one"}, "c"));
        tensors.push_back(numbers("one", {1}, {1}));
        return added({std::move(nodes), std::move(tensors)});
    }

    TextOfGraph made(const GraphParts& parts) const {
        return onnx_import::to_model_text(*onnx_import::read_onnx(written(parts)));
    }

    static std::vector<std::string> kinds(const TextOfGraph& graph) {
        std::vector<std::string> out;
        for (const ir::WrittenOp& op : ir::read_model_text(graph.text, 4).ops) {
            out.push_back(op.kind);
        }
        return out;
    }

private slots:
    void the_largest_of_negative_numbers_is_negative() {
        QCOMPARE(given({node("ReduceMax", {"k"}, "r"),
                        node("Concat", {"r", "seven"}, "g", {whole_attribute("axis", 0)})},
                       {wholes("k", {2}, {-3, -2}), wholes("seven", {1}, {7})}),
                 (std::vector<double>{-2, 7}));
    }

    void a_sum_over_no_axes_may_be_none() {
        QCOMPARE(
            given({node("ReduceSum", {"k"}, "g", {whole_attribute("noop_with_empty_axes", 1)})},
                  {wholes("k", {2}, {4, 7})}),
            (std::vector<double>{4, 7}));
    }

    void a_remainder_has_the_sign_that_is_asked_for() {
        const std::vector<Writer> k = {wholes("k", {2}, {-7, 8}), wholes("by", {2}, {3, -3})};
        QCOMPARE(given({node("Mod", {"k", "by"}, "g", {whole_attribute("fmod", 1)})}, k),
                 (std::vector<double>{-1, 2})); // C's fmod
        QCOMPARE(given({node("Mod", {"k", "by"}, "g")}, k),
                 (std::vector<double>{2, -1})); // Python's %
    }

    void a_power_of_whole_numbers_is_whole() {
        QCOMPARE(given({node("Pow", {"k", "half"}, "g")},
                       {wholes("k", {2}, {5, 10}), numbers("half", {1}, {0.5F})}),
                 (std::vector<double>{2, 3}));
    }

    void a_leaky_relu_of_constants_has_its_slope() {
        const std::vector<double> all =
            added({{node("CastLike", {"k", "one"}, "f"), node("LeakyRelu", {"f"}, "c")},
                   {wholes("k", {2}, {-4, 6}), numbers("one", {1}, {1})}});
        QCOMPARE(all, (std::vector<double>{-4, 6, -0.04F, 0.06F})); // the larger of both
    }

    void dropout_drops_in_graphs_of_training_alone() {
        const auto dropped = [&](std::initializer_list<const char*> inputs) {
            return made({{node("Dropout", inputs, "d"), node("Relu", {"d"}, "y")},
                         {numbers("rate", {}, {0.25F}), tensor("yes", {}, std::string(1, 1), 9),
                          tensor("no", {}, std::string(1, 0), 9)}});
        };
        const TextOfGraph trains = dropped({"x", "rate", "yes"});
        QCOMPARE(kinds(trains), (std::vector<std::string>{"dropout", "relu"}));
        const TextOfGraph fixed = dropped({"x", "rate", "no"});
        QCOMPARE(kinds(fixed), (std::vector<std::string>{"relu"}));
        QVERIFY(fixed.warnings.at(0).find("drops nothing") != std::string::npos);
        QCOMPARE(kinds(dropped({"x", "rate"})), (std::vector<std::string>{"relu"}));
    }

    void tensors_of_one_element_are_named() {
        const TextOfGraph graph =
            made({{node("Mul", {"x", "gain"}, "y")}, {numbers("gain", {1}, {0.5F})}});
        QCOMPARE(graph.warnings.size(), std::size_t{1});
        QVERIFY(graph.warnings[0].find("'gain' has one element and is not trained") !=
                std::string::npos);
    }

    void dilated_kernels_tell_what_they_cost() {
        const auto warnings = [&](std::int64_t dilation) {
            return made({{node("Reshape", {"x", "shape"}, "p"),
                          node("Conv", {"p", "kernel"}, "f",
                               {wholes_attribute("dilations", {dilation, dilation}),
                                wholes_attribute("pads", {8, 8, 8, 8})}),
                          node("Flatten", {"f"}, "y")},
                         {wholes("shape", {4}, {0, 1, 1, 2}),
                          numbers("kernel", {1, 1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9})}})
                .warnings;
        };
        QVERIFY(warnings(2).empty());
        QVERIFY(warnings(8).at(0).find("a kernel of 17 x 17") != std::string::npos);
    }

    void running_statistics_stay_so_by_another_name() {
        const TextOfGraph graph =
            made({{node("Identity", {"m"}, "mean"),
                   node("BatchNormalization", {"x", "s", "b", "mean", "v"}, "y")},
                  {numbers("s", {2}, {1, 2}), numbers("b", {2}, {3, 4}), numbers("m", {2}, {5, 6}),
                   numbers("v", {2}, {7, 8})}});
        const ir::ModelText text = ir::read_model_text(graph.text, 4);
        nn::check_model_text(text);
        std::map<std::string, bool> trained;
        for (const ir::WrittenPort& one : text.arguments) {
            if (one.role == ir::Role::state) {
                trained[one.name] = nn::start_of(one).trained;
            }
        }
        QCOMPARE(trained, (std::map<std::string, bool>{
                              {"b", true}, {"m", false}, {"s", true}, {"v", false}}));
    }
};

WEFT_TEST(OnnxNumbersTest)
#include "onnx_numbers_test.moc"
