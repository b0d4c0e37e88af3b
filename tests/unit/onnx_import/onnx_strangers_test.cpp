// SPDX-License-Identifier: Apache-2.0
// Graphs that no exporter writes are refused with what is wrong, and nothing else happens.
#include "tests/support/weft_test.h"
#include "tests/unit/onnx_import/onnx_folder.h"

#include <limits>

using namespace weft;
using namespace weft::test;

Q_DECLARE_METATYPE(weft::test::GraphParts)

class OnnxStrangersTest : public QObject, private test::OnnxFolder {
    Q_OBJECT

    /// A graph of `nodes` and y = x W.
    static GraphParts beside(std::vector<Writer> nodes, std::vector<Writer> tensors) {
        nodes.push_back(node("MatMul", {"x", "w"}, "y"));
        tensors.push_back(numbers("w", {2, 2}, {1, 2, 3, 4}));
        return {std::move(nodes), std::move(tensors)};
    }

    static Writer tensor_attribute(const std::string& name, const Writer& value) {
        Writer out;
        out.add_bytes(1, name);
        out.add(5, value);
        out.add_integer(20, 4);
        return out;
    }

    /// y = batch_norm(x) whose inputs have these names.
    static GraphParts normalised(const char* mean, const char* variance,
                                 std::initializer_list<Writer> attributes = {}) {
        return {{node("BatchNormalization", {"x", "s", "b", mean, variance}, "y", attributes)},
                {numbers("s", {2}, {1, 2}), numbers("b", {2}, {3, 4}), numbers("m", {2}, {5, 6}),
                 numbers("v", {2}, {7, 8})}};
    }

    static void row(const char* name, const GraphParts& parts, const char* why) {
        QTest::newRow(name) << parts << QString(why);
    }

private slots:
    void what_is_wrong_is_told_data() {
        QTest::addColumn<GraphParts>("parts");
        QTest::addColumn<QString>("why");

        const Writer table = wholes("k", {2, 2}, {1, 2, 3, 4});
        const Writer none = wholes("none", {0}, {});
        const Writer twice = wholes("axes", {2}, {2, 2});
        const char* axis_twice = "names an axis twice";
        row("squeezed twice",
            beside({node("Squeeze", {"one", "axes"}, "r")}, {wholes("one", {1, 1, 1}, {5}), twice}),
            axis_twice);
        row("unsqueezed twice",
            beside({node("Unsqueeze", {"one", "axes"}, "r")}, {wholes("one", {1}, {5}), twice}),
            axis_twice);
        row("squeezed twice in a run",
            {{node("Unsqueeze", {"x", "two"}, "u"), node("Squeeze", {"u", "axes"}, "y")},
             {wholes("two", {1}, {2}), twice}},
            axis_twice);
        row("unsqueezed twice in a run", {{node("Unsqueeze", {"x", "axes"}, "y")}, {twice}},
            axis_twice);
        row("transposed to one axis",
            beside({node("Transpose", {"k"}, "r", {wholes_attribute("perm", {0, 0})})}, {table}),
            axis_twice);
        row("transposed to fewer",
            beside({node("Transpose", {"k"}, "r", {wholes_attribute("perm", {1})})}, {table}),
            "permutation");

        const char* few = "holds too few numbers";
        const std::vector<Writer> bounds = {wholes("from", {2}, {0, 0}), wholes("to", {2}, {9, 9}),
                                            wholes("axes", {1}, {1}), table};
        row("sliced by fewer axes",
            beside({node("Slice", {"k", "from", "to", "axes"}, "r")}, bounds), few);
        row("sliced by fewer axes in a run",
            {{node("Slice", {"x", "from", "to", "axes"}, "y")}, bounds}, few);
        row("sliced by fewer ends", beside({node("Slice", {"k", "from", "axes"}, "r")}, bounds),
            few);
        row("a range without ends", beside({node("Range", {"none", "none", "none"}, "r")}, {none}),
            few);
        row("sums along no axis", beside({node("CumSum", {"k", "none"}, "r")}, {table, none}), few);
        row("a triangle from nowhere", beside({node("Trilu", {"k", "none"}, "r")}, {table, none}),
            few);
        row("filled with nothing",
            beside({node("ConstantOfShape", {"k"}, "r",
                         {tensor_attribute("value", numbers("none", {0}, {}))})},
                   {wholes("k", {1}, {2})}),
            few);
        row("a dropout of no rate",
            {{node("Dropout", {"x", "rate"}, "y")}, {numbers("rate", {0}, {})}}, few);
        const Writer parts =
            node("SplitToSequence", {"x", "one"}, "q", {whole_attribute("axis", 1)});
        const Writer one = wholes("one", {}, {1});
        row("a part of no number", {{parts, node("SequenceAt", {"q", "none"}, "y")}, {one, none}},
            few);
        row("a cast of parts",
            {{parts, node("Cast", {"q"}, "y", {whole_attribute("to", 1)})}, {one}},
            "reads a sequence");
        row("a cast like parts", {{parts, node("CastLike", {"x", "q"}, "y")}, {one}},
            "reads a sequence");

        Writer split;
        split.add_bytes(1, "x");
        split.add_bytes(4, "Split");
        split.add(5, whole_attribute("axis", 1));
        row("split into nothing", beside({split}, {}), "it has no results");

        row("a kernel of many zeros",
            {{node("Reshape", {"x", "shape"}, "p"),
              node("Conv", {"p", "kernel"}, "y",
                   {wholes_attribute("dilations", {6000, 6000}),
                    wholes_attribute("pads", {6000, 6000, 6000, 6000})})},
             {wholes("shape", {4}, {0, 1, 1, 2}),
              numbers("kernel", {1, 1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9})}},
            "its dilations spread its kernel over 12001 x 12001");
        const float low = -std::numeric_limits<float>::infinity();
        row("a mask of rows",
            {{node("Add", {"x", "m"}, "y")}, {numbers("m", {2, 2}, {0, 0, low, low})}},
            "hides whole rows");
        row("a guard of what may be no number",
            {{node("Sqrt", {"x"}, "s"), node("IsNaN", {"s"}, "n"),
              node("Where", {"n", "zero", "s"}, "y")},
             {numbers("zero", {1}, {0})}},
            "others than results of a Softmax");

        row("statistics that are trained", normalised("b", "v"), "both trained and a running");
        row(
            "statistics that are trained, by another name",
            [] {
                GraphParts out = normalised("same", "v");
                out.nodes.insert(out.nodes.begin(), node("Identity", {"b"}, "same"));
                return out;
            }(),
            "both trained and a running");
        row("one statistic twice", normalised("m", "m"), "more than one running statistic");
        Writer eps;
        eps.add_bytes(1, "epsilon");
        eps.add_float(2, 0.0F);
        row("nothing added to the variance", normalised("m", "v", {eps}), "an epsilon above 0");
        Writer momentum;
        momentum.add_bytes(1, "momentum");
        momentum.add_float(2, 5.0F);
        row("a momentum above 1", normalised("m", "v", {momentum}), "a momentum from 0 to 1");
        row("one channel",
            {{node("BatchNormalization", {"x", "s", "s", "s", "s"}, "y")},
             {numbers("s", {1}, {1})},
             17,
             1},
            "it has one channel");

        Writer means = node("BatchNormalization", {"x", "s", "b", "m", "v"}, "h");
        means.add_bytes(2, "mean");
        GraphParts read = normalised("m", "v");
        read.nodes = {means, node("Relu", {"mean"}, "y")};
        row("a result that is not given", read, "'the BatchNormalization' does not give 'mean'");
        row("the result is a weight", {{}, {numbers("y", {2, 2}, {1, 2, 3, 4})}},
            "is a tensor of the file");
        row("a negative extent that means any", {{node("Relu", {"x"}, "y")}, {}, 17, -1},
            "has no number");
    }

    void what_is_wrong_is_told() {
        QFETCH(GraphParts, parts);
        QFETCH(QString, why);
        const std::string text = refused(parts);
        QVERIFY2(text.find(why.toStdString()) != text.npos, text.c_str());
    }

    void constants_are_limited_together() {
        // 20 copies of 2^24 numbers: more than are made, though each is small enough.
        std::vector<Writer> chain{node("ConstantOfShape", {"k"}, "c0")};
        for (int i = 0; i < 20; ++i) {
            chain.push_back(node("Identity", {("c" + std::to_string(i)).c_str()},
                                 ("c" + std::to_string(i + 1)).c_str()));
        }
        const std::string text = refused(beside(chain, {wholes("k", {1}, {1 << 24})}));
        QVERIFY2(text.find("constants up to here") != text.npos, text.c_str());
    }
};

WEFT_TEST(OnnxStrangersTest)
#include "onnx_strangers_test.moc"
