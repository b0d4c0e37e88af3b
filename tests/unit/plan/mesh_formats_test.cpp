// SPDX-License-Identifier: Apache-2.0
// A mesh in the words of other programs. Judged by what reads them: Python for TOML and for the
// Python of JAX (over stand-ins for its names), a shell for the flags, our own reader for JSON.
#include "core/base/text.h"
#include "core/compile/mesh/mesh_recipe.h"
#include "core/compile/programs/programs.h"
#include "core/train/planning.h"
#include "tests/support/weft_test.h"
#include "tests/unit/plan/plan_models.h"

#include <QProcess>
#include <QStandardPaths>
#include <QTemporaryDir>

#include <fstream>
#include <map>

using namespace weft;
using UnorderedJson = nlohmann::json; // objects are equal in any order

namespace {

struct Planned {
    compile::RunConfig config;
    plan::ExecutionPlan plan;

    explicit Planned(const std::vector<std::string>& overrides)
        : config(test::model_run("gpt", overrides)),
          plan(train::plan_run(config, train::outline_run_data(config, {}), {}, {},
                               compile::Scope::step)) {}

    std::string as(plan::MeshFormat format) const {
        return plan::write_mesh_as(format, plan, compile::mesh_recipe(config));
    }
};

/// What a program prints that reads `text` from the file that is its last argument.
std::string answer(const QString& program, QStringList arguments, const std::string& text) {
    const QTemporaryDir dir;
    const QString file = dir.filePath("text");
    std::ofstream(file.toStdString()) << text;
    QProcess process;
    process.start(program, arguments << file);
    constexpr int kPatienceMs = 30000;
    if (!process.waitForFinished(kPatienceMs) || process.exitCode() != 0) {
        qWarning("%s", process.readAllStandardError().constData());
        return {};
    }
    return process.readAllStandardOutput().toStdString();
}

UnorderedJson toml(const std::string& text) {
    return UnorderedJson::parse(
        answer("python3",
               {"-c", "import json, sys, tomllib; "
                      "print(json.dumps(tomllib.load(open(sys.argv[1], 'rb'))))"},
               text));
}

/// Flags and their values; those without one are "".
std::map<std::string, std::string> flags(const std::string& text) {
    std::map<std::string, std::string> out;
    std::string last;
    for (const std::string& word :
         split(answer("bash", {"-c", "source \"$0\"; printf '%s\\n' \"${MESH_ARGS[@]}\""}, text),
               '\n')) {
        if (word.starts_with("--")) {
            out[last = word] = "";
        } else if (!word.empty()) {
            out[last] = word;
        }
    }
    return out;
}

std::int64_t value(const std::map<std::string, std::string>& all, const char* flag) {
    const auto found = all.find(flag);
    return found == all.end() ? 0 : std::stoll(found->second);
}

/// Runs the module over stand-ins and prints its dictionaries: specs as lists of axes.
constexpr const char* kRunsJax = R"PY(
import json, sys, types
class P(tuple):
    def __new__(cls, *dims): return tuple.__new__(cls, dims)
class Array(list):
    def reshape(self, *sizes): self.sizes = sizes; return self
jax = types.ModuleType('jax'); jax.devices = lambda: list(range(64))
numpy = types.ModuleType('numpy'); numpy.array = Array
sharding = types.ModuleType('jax.sharding')
sharding.Mesh = lambda devices, axes: [list(devices.sizes), list(axes), len(devices)]
sharding.NamedSharding = lambda mesh, spec: spec
sharding.PartitionSpec = P
sys.modules.update({'jax': jax, 'jax.sharding': sharding, 'numpy': numpy})
names = {}
exec(open(sys.argv[1]).read(), names)
print(json.dumps({key: names.get(key) for key in (
    'mesh', 'parameter_specs', 'parameter_shardings', 'optimizer_specs', 'batch_specs',
    'logical_axis_rules', 'logical_axes')}))
)PY";

UnorderedJson python(const std::string& text) {
    return UnorderedJson::parse(answer("python3", {"-c", kRunsJax}, text));
}

/// As the stand-in prints a spec: [null, "model"], ["data", ["data", "model"]].
UnorderedJson spec_json(const plan::StateSlot& slot, const sharding::Mesh& mesh) {
    UnorderedJson out = UnorderedJson::array();
    for (const auto& axes : sharding::to_spec(slot.placement, mesh).dims) {
        out.push_back(axes.empty()       ? UnorderedJson(nullptr)
                      : axes.size() == 1 ? UnorderedJson(axes.front())
                                         : UnorderedJson(axes));
    }
    return out;
}

const std::vector<std::string> kTwoByTwo = {"mesh.devices=cpu:4", "mesh.strategy=2d",
                                            "mesh.axes=[[\"data\",2],[\"model\",2]]"};

std::vector<std::string> with(std::vector<std::string> all, const std::vector<std::string>& more) {
    all.insert(all.end(), more.begin(), more.end());
    return all;
}

} // namespace

class MeshFormatsTest : public QObject {
    Q_OBJECT

    static void add_meshes() {
        QTest::addColumn<QStringList>("settings");
        const auto row = [](const char* name, const QStringList& settings) {
            QTest::newRow(name) << settings;
        };
        row("data", {"mesh.devices=cpu:4"});
        row("zero 3", {"mesh.devices=cpu:4", "mesh.strategy=fsdp"});
        row("hybrid", {"mesh.devices=cpu:4", "mesh.strategy=hybrid_fsdp",
                       "mesh.axes=[[\"replica\",2],[\"data\",2]]"});
        row("model", {"mesh.devices=cpu:2", "mesh.strategy=tensor_parallel"});
        row("2d, zero 1", {"mesh.devices=cpu:4", "mesh.strategy=2d", "mesh.zero_stage=1",
                           "mesh.axes=[[\"data\",2],[\"model\",2]]"});
        row("3d", {"mesh.devices=cpu:8", "mesh.strategy=3d", "training.micro_batch_size=2",
                   "mesh.axes=[[\"data\",2],[\"pipeline\",2],[\"model\",2]]"});
        row("context", {"mesh.devices=cpu:2", "mesh.strategy=context_parallel"});
        row("model with sequence", {"mesh.devices=cpu:2", "mesh.strategy=tensor_parallel",
                                    "mesh.rules=[[\"sequence\",\"model\"]]"});
    }

    static std::vector<std::string> fetched() {
        QFETCH(const QStringList, settings);
        std::vector<std::string> out;
        for (const QString& one : settings) {
            out.push_back(one.toStdString());
        }
        return out;
    }

private slots:
    void initTestCase() {
        if (QStandardPaths::findExecutable("python3").isEmpty()) {
            QSKIP("python3 reads what is written here, and this machine has none");
        }
    }

    // torchtitan's world is replicate x shard x context x tensor x pipeline; experts lie within.
    void degrees_of_a_job_file_multiply_to_the_devices_data() { add_meshes(); }
    void degrees_of_a_job_file_multiply_to_the_devices() {
        const Planned run(fetched());
        const UnorderedJson job = toml(run.as(plan::MeshFormat::torchtitan));
        const UnorderedJson& degrees = job.at("parallelism");
        std::int64_t product = 1;
        for (const char* name : {"data_parallel_replicate", "data_parallel_shard",
                                 "tensor_parallel", "pipeline_parallel", "context_parallel"}) {
            product *= degrees.at(std::string(name) + "_degree").get<std::int64_t>();
        }
        QCOMPARE(product, run.plan.mesh.devices());
        const UnorderedJson& training = job.at("training");
        QCOMPARE(training.at("global_batch_size").get<std::int64_t>(), 16);
        QCOMPARE(training.at("seq_len").get<std::int64_t>(), 8);
        // Whole steps of accumulation.
        const std::int64_t data = degrees.at("data_parallel_replicate_degree").get<std::int64_t>() *
                                  degrees.at("data_parallel_shard_degree").get<std::int64_t>();
        QCOMPARE(16 % (training.at("local_batch_size").get<std::int64_t>() * data), 0);
    }

    void flags_multiply_to_the_devices_data() { add_meshes(); }
    void flags_multiply_to_the_devices() {
        const Planned run(fetched());
        const auto all = flags(run.as(plan::MeshFormat::megatron));
        const std::int64_t inner = value(all, "--tensor-model-parallel-size") *
                                   value(all, "--pipeline-model-parallel-size") *
                                   value(all, "--context-parallel-size");
        QVERIFY(inner > 0);
        QCOMPARE(run.plan.mesh.devices() % inner, 0);
        // What is left are data ranks, and the batch divides into their micro batches.
        QCOMPARE(run.plan.mesh.devices() / inner, compile::plan_batch(run.config).data_ranks);
        QCOMPARE(value(all, "--global-batch-size") %
                     (value(all, "--micro-batch-size") * run.plan.mesh.devices() / inner),
                 0);
        QCOMPARE(all.contains("--use-distributed-optimizer"), run.plan.zero_stage > 0);
        QCOMPARE(all.contains("--use-megatron-fsdp"), run.plan.zero_stage > 1);
    }

    void python_has_every_parameter_where_the_plan_has_it_data() { add_meshes(); }
    void python_has_every_parameter_where_the_plan_has_it() {
        const Planned run(fetched());
        const sharding::Mesh& mesh = run.plan.mesh;
        const UnorderedJson names = python(run.as(plan::MeshFormat::jax));
        UnorderedJson sizes = UnorderedJson::array();
        UnorderedJson axes = UnorderedJson::array();
        for (const sharding::Axis& axis : mesh.axes) {
            sizes.push_back(axis.size);
            axes.push_back(axis.name);
        }
        QVERIFY(names.at("mesh") == UnorderedJson({sizes, axes, mesh.devices()}));
        QVERIFY(names.at("parameter_shardings") == names.at("parameter_specs"));
        std::size_t parameters = 0;
        for (const plan::StateSlot& slot : run.plan.state_slots) {
            const char* dict = slot.category == plan::Category::parameters  ? "parameter_specs"
                               : slot.category == plan::Category::optimizer ? "optimizer_specs"
                                                                            : nullptr;
            if (dict == nullptr || names.at(dict).is_null()) {
                continue;
            }
            parameters += slot.category == plan::Category::parameters ? 1 : 0;
            QVERIFY2(names.at(dict).at(slot.name) == spec_json(slot, mesh), slot.name.c_str());
            if (slot.category == plan::Category::parameters) {
                QCOMPARE(names.at("logical_axes").at(slot.name).size(),
                         std::size_t(slot.whole.shape.rank()));
            }
        }
        QVERIFY(parameters >= names.at("parameter_specs").size());
        QVERIFY(parameters > 20); // three blocks of a dozen, and what is around them
        QVERIFY(names.at("batch_specs").contains("inputs"));
    }

    // ZeRO 1 keeps parameters whole and splits what the optimizer holds (Rajbhandari et al. 2020).
    void optimizer_state_has_specs_of_its_own_where_it_lies_otherwise() {
        const Planned own(with(kTwoByTwo, {"mesh.zero_stage=1"}));
        const UnorderedJson names = python(own.as(plan::MeshFormat::jax));
        QVERIFY(names.at("parameter_specs").at("blocks.0.mlp.up.weight") ==
                UnorderedJson::parse(R"([null, "model"])"));
        bool split = false;
        for (const auto& [name, spec] : names.at("optimizer_specs").items()) {
            split = split || (name.ends_with("blocks.0.mlp.up.weight") &&
                              spec.dump().find("data") != std::string::npos);
        }
        QVERIFY(split);
        QVERIFY(
            python(Planned(kTwoByTwo).as(plan::MeshFormat::jax)).at("optimizer_specs").is_null());
    }

    // Rules and overrides that were written are rules and overrides of a configuration.
    void json_is_read_back_as_the_same_mesh() {
        const Planned run(
            with(kTwoByTwo, {"mesh.zero_stage=1", "mesh.rules=[[\"sequence\",\"model\"]]",
                             "mesh.specs={\"blocks.*.mlp.up.weight\":\"P('model', None)\"}"}));
        const UnorderedJson out = UnorderedJson::parse(run.as(plan::MeshFormat::json));
        const Planned again(
            {"mesh.devices=cpu:" + out.at("devices").dump(), "mesh.strategy=custom",
             "mesh.axes=" + out.at("axes").dump(), "mesh.zero_stage=" + out.at("zero_stage").dump(),
             "mesh.rules=" + out.at("rules").dump(), "mesh.specs=" + out.at("specs").dump()});
        QCOMPARE(again.plan.state_slots.size(), run.plan.state_slots.size());
        for (std::size_t i = 0; i < run.plan.state_slots.size(); ++i) {
            const plan::StateSlot& slot = run.plan.state_slots[i];
            QVERIFY2(again.plan.state_slots[i].placement == slot.placement, slot.name.c_str());
            QCOMPARE(out.at("tensors").at(i).at("name").get<std::string>(), slot.name);
            QCOMPARE(out.at("tensors").at(i).at("logical_axes").get<std::vector<std::string>>(),
                     slot.logical_axes);
        }
    }

    void text_names_every_array_with_its_spec() {
        const Planned run(kTwoByTwo);
        const std::string text = run.as(plan::MeshFormat::text);
        QVERIFY(text.find("data=2 x model=2") != std::string::npos);
        QVERIFY(text.find("rule batch -> data\n") != std::string::npos);
        QVERIFY(text.find("blocks.0.mlp.up.weight  f32[16,64]  P(None, 'model')  [16,32] on a "
                          "device\n") != std::string::npos);
    }

    // Megatron's arguments.py has these flags for f16; torchtitan's mixed precision is bf16 or f32.
    void the_loss_scale_of_f16_is_said_where_it_can_be() {
        const Planned run(
            {"mesh.devices=cpu:2", "training.precision=f16", "training.loss_scale.initial=1024",
             "training.loss_scale.growth_interval=500", "training.loss_scale.hysteresis=3"});
        const auto all = flags(run.as(plan::MeshFormat::megatron));
        QVERIFY(all.contains("--fp16") && !all.contains("--bf16"));
        QCOMPARE(value(all, "--initial-loss-scale"), 1024);
        QCOMPARE(value(all, "--loss-scale-window"), 500);
        QCOMPARE(value(all, "--hysteresis"), 3);
        QCOMPARE(value(all, "--min-loss-scale"), 1);
        const std::string titan = run.as(plan::MeshFormat::torchtitan);
        QCOMPARE(toml(titan)["training"]["mixed_precision_param"], UnorderedJson("bfloat16"));
        QVERIFY2(titan.find("# The plan computes in f16") != std::string::npos, titan.c_str());
    }

    void what_a_format_cannot_say_is_a_comment_of_it() {
        const Planned run({"mesh.devices=cpu:8", "mesh.strategy=3d", "training.micro_batch_size=2",
                           "mesh.axes=[[\"data\",2],[\"pipeline\",2],[\"model\",2]]",
                           "mesh.pipeline.schedule=zero_bubble_h1", "training.recompute=auto",
                           "mesh.specs={\"wpe.weight\":\"P('model')\"}"});
        const std::string titan = run.as(plan::MeshFormat::torchtitan);
        for (const char* words : {"# The plan's schedule is zero_bubble_h1",
                                  "# torchtitan numbers devices pipeline x "
                                  "data x tensor",
                                  "# The plan places wpe.weight as P('model')",
                                  "# stages of the plan", "# The plan computes again as little"}) {
            QVERIFY2(titan.find(words) != std::string::npos, titan.c_str());
        }
        const std::string megatron = run.as(plan::MeshFormat::megatron);
        for (const char* words : {"# The plan's schedule is zero_bubble_h1",
                                  "# The plan places wpe.weight", "# stages of the plan"}) {
            QVERIFY2(megatron.find(words) != std::string::npos, megatron.c_str());
        }
        // Megatron can place data ranks outside of stages.
        QVERIFY(flags(megatron).contains("--use-tp-pp-dp-mapping"));
        QVERIFY(megatron.find("numbers devices") == std::string::npos);
        const std::string jax = run.as(plan::MeshFormat::jax);
        for (const char* words :
             {"# JAX has no pipeline: zero_bubble_h1", "; stage 1\n", "; 3 parts"}) {
            QVERIFY2(jax.find(words) != std::string::npos, jax.c_str());
        }
        const Planned idle({"mesh.devices=cpu:2", "mesh.strategy=replicated"});
        QVERIFY(idle.as(plan::MeshFormat::torchtitan).find("# No rule names the axis data") !=
                std::string::npos);
    }
};

WEFT_TEST(MeshFormatsTest)
#include "mesh_formats_test.moc"
