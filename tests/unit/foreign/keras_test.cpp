// SPDX-License-Identifier: Apache-2.0
// Names are those of Keras 3: keras/src/saving/saving_lib.py, _save_container_state.
#include "core/base/hdf5_file.h"
#include "core/foreign/keras.h"
#include "tests/support/error_of.h"
#include "tests/support/test_folder.h"
#include "tests/support/weft_test.h"

#include <cstring>

namespace {

using namespace weft;
using namespace weft::foreign;
using config::Json;

Array array_of(const std::string& name, ir::Shape shape) {
    return {name, ir::Type{ir::DType::f32, std::move(shape)}, ""};
}

std::vector<std::string> paths_of(const std::vector<KerasVariable>& layout) {
    std::vector<std::string> out;
    for (const KerasVariable& variable : layout) {
        out.push_back(variable.path);
    }
    return out;
}

class KerasTest : public QObject, private test::TestFolder {
    Q_OBJECT

private slots:
    void layers_of_a_class_are_counted_in_order() {
        const std::vector<Array> arrays = {
            array_of("layers.0.weight", {3, 3, 1, 4}), array_of("layers.0.bias", {4}),
            array_of("layers.1.weight", {4}), array_of("layers.1.bias", {4}),
            array_of("layers.4.weight", {16, 8}), array_of("layers.4.bias", {8}),
            array_of("layers.5.weight", {8}), array_of("layers.5.bias", {8}),
            array_of("layers.10.weight", {8, 2}),
            // Statistics come after all parameters.
            array_of("layers.1.running_mean", {4}), array_of("layers.1.running_variance", {4})};
        const auto layout = keras_layout(arrays, Json::object());
        QCOMPARE(
            paths_of(layout),
            (std::vector<std::string>{
                "layers/conv2d/vars/0", "layers/conv2d/vars/1", "layers/batch_normalization/vars/0",
                "layers/batch_normalization/vars/1", "layers/batch_normalization/vars/2",
                "layers/batch_normalization/vars/3", "layers/dense/vars/0", "layers/dense/vars/1",
                "layers/layer_normalization/vars/0", "layers/layer_normalization/vars/1",
                "layers/dense_1/vars/0"}));
        QCOMPARE(arrays[layout[4].array].name, std::string("layers.1.running_mean"));
        QCOMPARE(arrays[layout[10].array].name, std::string("layers.10.weight"));
    }

    void a_table_is_an_embedding() {
        const Json model = config::json_of(
            R"({"type": "sequential", "layers": [{"type": "embedding"}, {"type": "linear"}]})");
        const std::vector<Array> arrays = {array_of("layers.0.weight", {100, 8}),
                                           array_of("layers.1.weight", {8, 100})};
        QCOMPARE(paths_of(keras_layout(arrays, model)),
                 (std::vector<std::string>{"layers/embedding/vars/0", "layers/dense/vars/0"}));
    }

    void what_keras_has_no_layer_for_is_refused() {
        for (const std::vector<Array>& arrays :
             {std::vector{array_of("router.scale", {4})},
              std::vector{array_of("x.weight", {2, 2, 2})},
              std::vector{array_of("x.weight", {2, 2}), array_of("x.gate", {2, 2})}}) {
            QVERIFY(test::error_of([&] { keras_layout(arrays, Json::object()); }).has_value());
        }
    }

    void every_number_arrives() {
        Arrays weights;
        weights.list = {array_of("layers.0.weight", {2, 3}), array_of("layers.0.bias", {3})};
        weights.read = [](const std::string& name, std::span<std::byte> into) {
            for (std::size_t i = 0; i < into.size() / sizeof(float); ++i) {
                const float value = static_cast<float>(i) + (name.ends_with("bias") ? 0.5F : 0);
                std::memcpy(into.data() + i * sizeof(float), &value, sizeof value);
            }
        };
        const auto file = path("model.weights.h5");
        write_keras(file, weights, Json::object());
        const Hdf5Index index = read_hdf5_index(file);
        const Hdf5Dataset* bias = index.find("layers/dense/vars/1");
        QVERIFY(bias != nullptr && index.find("layers/dense/vars/0") != nullptr);
        std::vector<float> numbers(3);
        File(file, File::Mode::read)
            .read_at(std::as_writable_bytes(std::span(numbers)), bias->offset);
        QCOMPARE(numbers, (std::vector<float>{0.5F, 1.5F, 2.5F}));
    }
};

} // namespace

WEFT_TEST(KerasTest)
#include "keras_test.moc"
