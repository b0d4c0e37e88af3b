// SPDX-License-Identifier: Apache-2.0
// The recipes for loops of one's own: write_log_recipes.py ran these very lines under PyTorch and
// tensorboardX and kept what they wrote.
#include "core/base/file.h"
#include "core/config/json.h"
#include "core/train/logging/log_recipe.h"
#include "core/train/logging/tensorboard_reader.h"
#include "tests/support/weft_test.h"

#include <QTemporaryDir>

namespace {

using namespace weft;
using namespace weft::train;
namespace fs = std::filesystem;

} // namespace

class LogRecipeTest : public QObject {
    Q_OBJECT

private slots:
    void lines_that_are_shown_are_those_that_were_run() {
        const fs::path data = WEFT_TEST_DATA;
        const auto kept = config::Json::parse(read_file(data / "log_recipes.json"));
        QCOMPARE(kept.size(), log_recipes().size());
        for (std::size_t i = 0; i < kept.size(); ++i) {
            const LogRecipe& recipe = log_recipes()[i];
            QCOMPARE(kept[i].at("program").get<std::string>(), std::string(recipe.program));
            QCOMPARE(kept[i].at("once").get<std::string>(), std::string(recipe.once));
            QCOMPARE(kept[i].at("each").get<std::string>(), std::string(recipe.each));
            const QTemporaryDir dir;
            const fs::path run = dir.path().toStdString();
            fs::copy_file(data / kept[i].at("file").get<std::string>(),
                          run / "events.out.tfevents.100.host");
            TensorboardReader reader(run);
            std::vector<ScalarSeries> series;
            append(series, reader.read());
            QCOMPARE(series.size(), std::size_t{1});
            QCOMPARE(series[0].tag, std::string("train/loss"));
            QCOMPARE(series[0].step, (std::vector<double>{1, 2, 3}));
            QCOMPARE(series[0].value, kept[i].at("losses").get<std::vector<double>>());
        }
    }
};

WEFT_TEST(LogRecipeTest)
#include "log_recipe_test.moc"
