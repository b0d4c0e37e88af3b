// SPDX-License-Identifier: Apache-2.0
// Every user mistake with its exact place and a hint; all of a document at once.
#include "core/compile/config/run_config.h"
#include "tests/support/weft_test.h"

#include <set>

using namespace weft;
using config::Json;

namespace {

/// A right document; each case breaks it with one assignment.
constexpr auto kRight = R"({
  "data": {"train": {"type": "idx", "path": "images"}},
  "model": {"type": "mlp"}
})";

compile::CheckedRun read(const std::string& text, const std::vector<std::string>& overrides = {}) {
    return compile::read_run_config(std::string_view(text), "/somewhere", overrides);
}

struct Mistake {
    std::vector<std::string> assignments;
    std::string pointer;
    std::string message; // a part of it
    std::string hint;    // a part of it
};

std::vector<Mistake> mistakes() {
    return {
        {{"optimizer.learning_rat=0.1", "optimizer.type=adamw"},
         "/optimizer/learning_rat",
         "unknown field",
         "learning_rate"},
        {{"optimizer={\"type\":\"adamw\",\"learning_rate\":\"fast\"}"},
         "/optimizer/learning_rate",
         "expected a number",
         ""},
        {{"training.global_batch_size=0"}, "/training/global_batch_size", "out of range", "1"},
        {{"model.activation=rellu"}, "/model/activation", "rellu", "relu"},
        {{"schema_version=2"}, "/schema_version", "version 2", "newer"},
        {{"checkpoint.keep_latest=0"}, "/checkpoint/keep_latest", "out of range", "1"},
        // Rules between settings.
        {{"training.micro_batch_size=100"}, "/training/micro_batch_size", "does not divide", "64"},
        {{"training.length={\"steps\":100}", "lr_schedule.type=warmup_cosine",
          "lr_schedule.warmup_steps=100"},
         "/lr_schedule/warmup_steps",
         "run of 100 steps",
         "longer"},
        {{"training.recompute=block"}, "/training/recompute", "block", "blocks"},
        {{"training.recompute=auto", "training.memory_budget=0"},
         "/training/memory_budget",
         "out of range",
         "0"},
        {{"training.recompute=auto", "training.memory_budget=\"2GB\""},
         "/training/memory_budget",
         "expected",
         ""},
        {{"training.recompute=auto", "training.memory_budget=1e9.5"},
         "/training/memory_budget",
         "expected",
         ""},
        {{"training.length={\"tokens\":1000}"},
         "/training/length/tokens",
         "language model",
         "epochs"},
        {{"data.validation=null",
          "lr_schedule={\"type\":\"plateau\",\"metric\":\"validation/loss\"}"},
         "/lr_schedule/metric",
         "no validation split",
         "train/loss"},
        {{"metrics=[\"mean_absolute_error\"]"}, "/metrics/0", "cross_entropy", "accuracy"},
        {{"metrics=[\"accuracy\", \"perplexity\", \"accuracy\"]"},
         "/metrics/2",
         "named twice",
         "once"},
        {{"metrics=[\"bits_per_byte\"]"}, "/metrics/0", "language model", "accuracy"},
        {{"metrics=[\"acuracy\"]"}, "/metrics/0", "acuracy", "accuracy"},
        {{"loss.type=nt_xent", "metrics=[\"accuracy\"]"},
         "/metrics/0",
         "nt_xent",
         "nearest_accuracy"},
        {{"metrics=[\"nearest_accuracy\"]"}, "/metrics/0", "cross_entropy", "accuracy"},
        {{"loss.type=triplet", "data.mix=[{\"type\":\"mixup\"}]"}, "/data/mix", "triplet", "out"},
        {{"loss={\"type\":\"ctc\",\"symbols\":5}", "metrics=[\"mean_absolute_error\"]",
          "data.train={\"type\":\"synthetic\",\"kind\":\"regression\"}"},
         "/metrics/0",
         "ctc",
         "symbol_error_rate"},
        {{"loss={\"type\":\"ctc\"}"}, "/loss/symbols", "missing", "blank"},
        {{"metrics=[\"symbol_error_rate\"]"}, "/metrics/0", "cross_entropy", "accuracy"},
        {{"metrics=[\"bleu\"]"}, "/metrics/0", "language model", "accuracy"},
        {{"checkpoint.metric=validation/f1"}, "/checkpoint/metric", "f1", "validation/loss"},
        {{"checkpoint.metric=loss"}, "/checkpoint/metric", "loss", "validation/loss"},
        {{"loss.type=mse"}, "/loss/type", "classes", "cross_entropy"},
        {{"loss.type=mse", "loss.label_smoothing=0.1",
          "data.train={\"type\":\"synthetic\",\"kind\":\"regression\"}"},
         "/loss/label_smoothing",
         "unknown field",
         ""},
        {{"data.train.type=text"}, "/model/type", "text", "gpt2"},
        {{"model.type=gpt2"}, "/model/type", "images", "mlp"},
        {{"model={\"type\":\"gpt2\",\"heads\":7}", "data.train.type=text"},
         "/model/heads",
         "does not divide",
         "divides"},
        {{"model={\"type\":\"sequential\",\"layers\":[]}"}, "/model/layers", "empty", "linear"},
        {{"optimizer={\"type\":\"adam\",\"betas\":[0.9]}"},
         "/optimizer/betas",
         "expected 2 items, found 1",
         "second moment"},
        {{"optimizer={\"type\":\"sgd\",\"momentum\":0,\"nesterov\":true}"},
         "/optimizer/nesterov",
         "momentum",
         "0.9"},
        {{"optimizer={\"type\":\"adam\",\"groups\":[{\"match\":\"*\",\"momentum\":0.5}]}"},
         "/optimizer/groups/0/momentum",
         "no 'momentum'",
         "type"},
        {{"init.trainable=[]"}, "/init/trainable", "no parameter", "Leave it out"},
        {{"init.lora={\"rank\":0}"}, "/init/lora/rank", "out of range", "1"},
        {{"init.lora={\"alpha\":0}"}, "/init/lora/alpha", "out of range", "above 0"},
        {{"init.lora={\"dropout\":1}"}, "/init/lora/dropout", "out of range", "0.99"},
        {{"init.lora={\"save_base\":false}"}, "/init/lora/save_base", "nowhere", "init.from"},
        {{"init.lora={\"targets\":[]}"}, "/init/lora/targets", "no linear layer", "all blocks"},
        {{"training.precision=f16", "training.loss_scale.initial=0"},
         "/training/loss_scale/initial",
         "out of range",
         "above 0"},
        {{"training.precision=f16", "training.loss_scale.minimum=131072"},
         "/training/loss_scale/initial",
         "65536.0 is below the minimum 131072.0",
         "allow less"},
        {{"training.precision=f16", "training.loss_scale.initial=1e9"},
         "/training/loss_scale/initial",
         "above the maximum",
         "allow more"},
        {{"training.precision=f16", "training.loss_scale.backoff=1"},
         "/training/loss_scale/backoff",
         "out of range",
         "0.999999"},
        {{"training.precision=f16", "training.loss_scale.hysteresis=0"},
         "/training/loss_scale/hysteresis",
         "out of range",
         "1"},
        {{"training.precision=f16", "training.loss_scale.window=100"},
         "/training/loss_scale/window",
         "unknown field",
         ""},
        // Names and settings of the interface that this version cannot do.
        {{"loss.type=act"}, "/loss/type", "loss 'act' is not available", "'cross_entropy'"},
        {{"loss.type=expression", "loss.expression=mean(square(y - s))"},
         "/loss/expression",
         "column 17: there is no 's' here",
         "targets t"},
        {{"loss.class_weights=[1,2]", "loss.balance_classes=true"},
         "/loss/balance_classes",
         "class_weights",
         "one of the two"},
        {{"loss.class_weights=[0,0]"}, "/loss/class_weights", "no class counts", "above 0"},
        {{"loss.z_loss=0.1", "metrics=[\"perplexity\"]"},
         "/metrics/0",
         "cross_entropy with z_loss or weights of classes",
         "accuracy"},
        {{"metrics=[\"macro_f1\"]", "checkpoint.metric=train/macro_f1"},
         "/checkpoint/metric",
         "of a whole evaluation set",
         "validation/macro_f1"},
        {{"lr_schedule={\"type\":\"plateau\",\"metric\":\"validation/auroc\"}"},
         "/lr_schedule/metric",
         "'auroc' is not reported",
         "validation/loss"},
        {{"optimizer={\"type\":\"schedule_free\"}", "training.ema_decay=0.9",
          "lr_schedule={\"type\":\"constant\"}"},
         "/training/ema_decay",
         "an average of the weights of its own",
         "Leave ema_decay out"},
        {{"mesh.devices=cuda:1,1"}, "/mesh/devices", "'cuda:1,1' is not available", "cuda:0,2"},
        {{"mesh.devices=cpu:0"}, "/mesh/devices", "'cpu:0' is not available", "1024"},
        {{"mesh.devices=cpu:many"}, "/mesh/devices", "'cpu:many'", "cpu:N"},
        {{"mesh.pipeline.stages=[1]"}, "/mesh/pipeline", "no rule gives layers", "pipeline"},
        {{"mesh.devices=cpu:2", "mesh.strategy=pipeline", "mesh.pipeline.stages=[1,1,1]"},
         "/mesh/pipeline/stages",
         "2 numbers or a multiple",
         "leave it out"},
        {{"mesh.devices=cpu:2", "mesh.strategy=pipeline", "mesh.pipeline.stages=[0,2]"},
         "/mesh/pipeline/stages",
         "2 numbers or a multiple",
         "leave it out"},
        {{"mesh.devices=cpu:2", "mesh.strategy=pipeline",
          "mesh.pipeline.schedule=interleaved_1f1b"},
         "/mesh/pipeline/schedule",
         "1 microbatches are not a multiple of 2",
         "micro_batch_size"},
        {{"mesh.devices=cpu:2", "mesh.strategy=pipeline", "mesh.pipeline.stages=[1,1,1,1]"},
         "/mesh/pipeline/schedule",
         "one chunk per stage",
         "micro_batch_size"},
        {{"mesh.devices=cpu:4", "mesh.axes=[[\"a\",2],[\"b\",2]]", "mesh.strategy=custom",
          "mesh.rules=[[\"layers\",[\"a\",\"b\"]]]"},
         "/mesh/rules",
         "layers go to one axis",
         "Name one"},
        {{"mesh.devices=cpu:2", "mesh.axes=[[\"a\",2]]", "mesh.strategy=custom",
          "mesh.rules=[[\"layers\",\"a\"],[\"batch\",\"a\"]]"},
         "/mesh/rules",
         "splits nothing else",
         "axis of its own"},
        {{"mesh.pipeline.schedule=2f2b"}, "/mesh/pipeline/schedule", "2f2b", "1f1b"},
        {{"mesh.strategy=fdsp"}, "/mesh/strategy", "fdsp", "fsdp"},
        {{"mesh.axes=[[\"data\",4]]"}, "/mesh/axes", "data=4 do not make up 1 device", "cpu:4"},
        {{"mesh.devices=cpu:8", "mesh.axes=[[\"data\",-1],[\"model\",3]]"},
         "/mesh/axes",
         "data=? x model=3 do not make up 8 devices",
         "divide 8"},
        {{"mesh.devices=cpu:4", "mesh.axes=[[\"data\",-1],[\"model\",-1]]"},
         "/mesh/axes",
         "only one axis",
         "all sizes but one"},
        {{"mesh.axes=[[\"a\",1],[\"b\",1],[\"c\",1],[\"d\",1],[\"e\",1],[\"f\",1],[\"g\",1],[\"h\","
          "1],"
          "[\"i\",1]]"},
         "/mesh/axes",
         "9 axes",
         "Join"},
        {{"mesh.devices=cpu:4", "mesh.axes=[[\"data\",2],[\"data\",2]]"},
         "/mesh/axes/1",
         "twice",
         "of its own"},
        {{"mesh.devices=cpu:1025"}, "/mesh/devices", "'cpu:1025' is not available", "1024"},
        {{"mesh.devices=h200:0"}, "/mesh/devices", "'h200:0' is not available", "h200:8"},
        {{"mesh.axes=[[\"data\",0]]"}, "/mesh/axes", "pairs", "data"},
        {{"mesh.devices=h200:8", "mesh.axes=[[\"data\",2],[\"model\",3]]"},
         "/mesh/axes",
         "data=2 x model=3 do not make up 8 devices",
         "h200:6"},
        // 2^32 times 2^32 is 0 in 64 bits.
        {{"mesh.devices=cpu:4", "mesh.axes=[[\"a\",4294967296],[\"b\",4294967296],[\"c\",-1]]"},
         "/mesh/axes",
         "a=4294967296 x b=4294967296 x c=? do not make up 4 devices",
         "divide 4"},
        {{"mesh.devices=cpu:4", "mesh.axes=[[\"a\",4294967296],[\"b\",4294967297]]"},
         "/mesh/axes",
         "a=4294967296 x b=4294967297 do not make up 4 devices",
         "let one size be -1"},
        {{"mesh.axes=4"}, "/mesh/axes", "pairs", "data"},
        {{"mesh.rules=5"}, "/mesh/rules", "list of pairs", "mlp"},
        {{"mesh.rules=[[\"mlp\",7]]"}, "/mesh/rules/0", "pair", "mlp"},
        {{"mesh.devices=cpu:2", "mesh.rules=[[\"mlp\",\"modle\"]]"},
         "/mesh/rules/0",
         "no axis 'modle'",
         "data=2"},
        {{"mesh.devices=cpu:2", "mesh.specs={\"*\":\"P('model')\"}"},
         "/mesh/specs/*",
         "no axis 'model'",
         "data=2"},
        {{"mesh.devices=cpu:2", "mesh.specs={\"*\":\"P('data', 'data')\"}"},
         "/mesh/specs/*",
         "twice",
         "P(None"},
        {{"mesh.devices=cpu:2", "mesh.specs={\"*\":\"data\"}"}, "/mesh/specs/*", "", "P(None"},
        {{"mesh.devices=cpu:3", "training.micro_batch_size=32"},
         "/training/micro_batch_size",
         "does not divide into 3 data ranks",
         "multiple of 3"},
        {{"mesh.devices=cpu:4", "training.micro_batch_size=20"},
         "/training/micro_batch_size",
         "over 4 data ranks",
         "Use 16"},
        {{"model={\"type\":\"sequential\",\"layers\":[{\"type\":\"moe\"}]}"},
         "/model/layers/0/experts",
         "",
         ""},
        {{"mesh.zero_stage=4"}, "/mesh/zero_stage", "out of range", "3"},
        {{"training.early_stopping={\"patience\":0}"},
         "/training/early_stopping/patience",
         "out of range",
         "1"},
        {{"training.early_stopping={\"metric\":\"validation/f1\"}"},
         "/training/early_stopping/metric",
         "f1",
         "validation/loss"},
    };
}

bool holds(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

std::string all_of(const config::Diagnostics& diagnostics) {
    std::string out;
    for (const auto& diagnostic : diagnostics) {
        out += config::to_text(diagnostic) + "\n";
    }
    return out;
}

} // namespace

class RunConfigErrorTest : public QObject {
    Q_OBJECT
private slots:
    void the_document_that_the_cases_break_is_right() {
        const compile::CheckedRun checked = read(kRight);
        QVERIFY2(checked.ok(), all_of(checked.diagnostics).c_str());
        QVERIFY2(checked.diagnostics.empty(), all_of(checked.diagnostics).c_str());
    }

    void every_mistake_is_reported_at_its_place_with_a_hint() {
        for (const Mistake& row : mistakes()) {
            const compile::CheckedRun checked = read(kRight, row.assignments);
            const std::string found = row.pointer + " wanted, found:\n" + all_of(checked.diagnostics);
            QVERIFY2(checked.diagnostics.size() == 1, found.c_str());
            QVERIFY2(!checked.ok(), found.c_str());
            const config::Diagnostic& diagnostic = checked.diagnostics[0];
            QVERIFY2(diagnostic.pointer == row.pointer, found.c_str());
            QVERIFY2(holds(diagnostic.message, row.message), found.c_str());
            QVERIFY2(holds(diagnostic.hint, row.hint), found.c_str());
            // The place stands before it wherever it is shown.
            const std::string field = row.pointer.substr(row.pointer.rfind('/') + 1) + " ";
            QVERIFY2(!diagnostic.message.starts_with(field), found.c_str());
        }
    }

    void seven_mistakes_give_seven_diagnostics_with_hints() {
        const compile::CheckedRun checked = read(R"({
          "data": {"train": {"type": "idx", "path": "images"}, "shufle": true},
          "model": {"type": "mlp", "dropout": 1.5},
          "optimizer": {"type": "adamm"},
          "training": {"global_batch_size": 96, "micro_batch_size": 64, "recompute": "all",
                       "max_grad_norm": "1"},
          "checkpoint": {"metric": "validation/f1"}
        })");
        std::set<std::string> places;
        for (const auto& diagnostic : checked.diagnostics) {
            places.insert(diagnostic.pointer);
            QVERIFY2(!diagnostic.hint.empty(), config::to_text(diagnostic).c_str());
        }
        const std::set<std::string> expected = {
            "/data/shufle",        "/model/dropout",          "/optimizer/type",
            "/training/micro_batch_size", "/training/recompute", "/training/max_grad_norm",
            "/checkpoint/metric"};
        QVERIFY2(places == expected, all_of(checked.diagnostics).c_str());
        QCOMPARE(checked.diagnostics.size(), expected.size());
    }

    void nothing_in_a_document_makes_the_reader_throw() {
        const std::vector<std::string> values = {"null", "5", "-1", "\"x\"", "[]", "[[]]", "{}",
                                                 "{\"type\":5}", "{\"steps\":\"x\"}", "1e300"};
        for (const config::Field& field : compile::run_config_table()) {
            for (const std::string& value : values) {
                read(kRight, {field.name + "=" + value});
                for (const config::Field& inner : field.fields) {
                    read(kRight, {field.name + "." + inner.name + "=" + value});
                }
            }
        }
        for (const char* text : {"", "null", "[]", "5", "{", "\"a\""}) {
            QVERIFY2(!read(text).ok(), text);
        }
    }

    void a_missing_file_is_a_diagnostic() {
        const compile::CheckedRun checked = compile::read_run_config_file("/no/such/file.json");
        QCOMPARE(checked.diagnostics.size(), std::size_t{1});
        QVERIFY(holds(checked.diagnostics[0].message, "/no/such/file.json"));
    }

    void experts_that_a_mesh_splits_for_nothing_are_a_warning() {
        const std::string gpt = R"(model={"type":"gpt2","experts":4})";
        const std::string layers =
            R"(model={"type":"sequential","layers":[{"type":"flatten"},{"type":"residual","layers":)"
            R"([{"type":"moe","experts":4}]},{"type":"linear"}]})";
        const std::string text = R"(data.train={"type":"text","path":"/usr/share/common-licenses"})";
        const std::string mlp = R"(model={"type":"mlp"})";
        const auto check = [](std::vector<std::string> assignments, const char* pointer,
                              const char* message) {
            assignments.insert(assignments.end(),
                               {"mesh.strategy=expert_parallel", "training.micro_batch_size=null",
                                "training.global_batch_size=24"});
            const compile::CheckedRun checked = read(kRight, assignments);
            const std::string found = all_of(checked.diagnostics);
            QVERIFY2(checked.ok(), found.c_str());
            QVERIFY2(checked.diagnostics.size() == (*pointer == 0 ? 0 : 1), found.c_str());
            for (const auto& one : checked.diagnostics) {
                QVERIFY2(one.pointer == pointer && holds(one.message, message), found.c_str());
                QVERIFY(!one.hint.empty());
            }
        };
        check({"mesh.devices=cpu:2", mlp}, "/mesh/strategy", "the model has none");
        check({"mesh.devices=cpu:2", gpt, text, "metrics=[]"}, "", "");
        check({"mesh.devices=cpu:2", layers}, "", "");
        check({"mesh.devices=cpu:3", gpt, text}, "/mesh/axes",
              "4 experts do not divide over 3 devices: some hold fewer");
        check({"mesh.devices=cpu:8", layers}, "/mesh/axes", "each device holds them all");
    }

    void a_loss_scale_that_nothing_uses_is_a_warning() {
        const compile::CheckedRun checked =
            read(kRight, {"training.precision=bf16", "training.loss_scale.initial=1024"});
        QVERIFY2(checked.ok(), all_of(checked.diagnostics).c_str());
        QCOMPARE(checked.diagnostics.size(), std::size_t{1});
        QCOMPARE(checked.diagnostics[0].pointer, std::string("/training/loss_scale"));
        QVERIFY(holds(checked.diagnostics[0].message, "no loss is scaled in bf16"));
        QVERIFY(holds(checked.diagnostics[0].hint, "precision f16"));
        QVERIFY(read(kRight, {"training.precision=bf16"}).diagnostics.empty());
        QVERIFY(read(kRight, {"training.precision=fp16", "training.loss_scale.initial=1024"})
                    .diagnostics.empty());
    }

    void bits_that_may_differ_are_a_warning() {
        const compile::CheckedRun checked = read(kRight, {"training.deterministic=false"});
        QVERIFY2(checked.ok(), all_of(checked.diagnostics).c_str());
        QCOMPARE(checked.diagnostics.size(), std::size_t{1});
        QCOMPARE(checked.diagnostics[0].pointer, std::string("/training/deterministic"));
        QVERIFY(holds(checked.diagnostics[0].message, "every kernel adds in one order"));
        // Of ranks on several hosts they may.
        const std::vector<std::string> devices = {
            "training.deterministic=false", "mesh.devices=cpu:4", "mesh.strategy=data_parallel"};
        QVERIFY(read(kRight, devices).diagnostics.empty());
        std::vector<std::string> simulated = devices;
        simulated.push_back("mesh.backend=in_process");
        QCOMPARE(read(kRight, simulated).diagnostics.size(), std::size_t{1});
    }

    void a_metric_kept_in_the_wrong_direction_is_a_warning() {
        const compile::CheckedRun checked =
            read(kRight, {"checkpoint.metric=validation/accuracy"});
        QVERIFY(checked.ok());
        QCOMPARE(checked.diagnostics.size(), std::size_t{1});
        QCOMPARE(checked.diagnostics[0].pointer, std::string("/checkpoint/mode"));
    }
};

WEFT_TEST(RunConfigErrorTest)
#include "run_config_error_test.moc"
