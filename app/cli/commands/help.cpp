// SPDX-License-Identifier: Apache-2.0
// weft help [TOPIC]: pages made from the option table and the field tables.
#include "app/cli/commands/commands.h"
#include "app/cli/json_output.h"
#include "app/cli/man_page.h"
#include "core/base/text.h"
#include "core/compile/run_config.h"
#include "core/nn/model_list.h"

namespace weft::cli {
namespace {

constexpr const char* kTopics =
    "topics: config (every setting), schema (JSON schema), man (the manual page), a command, or "
    "a setting such as training.length";

void print_field(const config::Field& field, const std::string& path) {
    std::printf("%s\n  %s\n  default: %s%s\n", path.c_str(), field.help.c_str(),
                field.required ? "none, it must be given" : field.default_value.dump().c_str(),
                field.unit.empty() ? "" : (" " + field.unit).c_str());
    if (!field.choices.empty()) {
        std::printf("  one of: %s\n", join(field.choices, ", ").c_str());
    }
    for (const config::RecordType& record : field.records) {
        std::printf("  type \"%s\": %s\n", record.name.c_str(), record.help.c_str());
    }
}

/// The names of each model's tensors, behind the table of settings.
void print_tensors() {
    std::printf("\n## Tensors of each model\n\nNested layers add `layers.*`, `copies.*` and "
                "`branches.*` to a name.\n");
    for (const nn::ModelDef* model : nn::kModels) {
        std::printf("\n### %s\n\n", std::string(model->name).c_str());
        for (const std::string& line : split(model->tensors, '\n')) {
            if (!line.empty()) {
                std::printf("- %s\n", line.c_str());
            }
        }
    }
}

int print_help(Command app, const std::string& topic) {
    const config::FieldTable& table = compile::run_config_table();
    if (topic.empty()) {
        std::printf("%s\n%s\n", app.help().c_str(), kTopics);
    } else if (topic == "config") {
        std::printf("%s", config::reference_page(table, "Run configuration").c_str());
        print_tensors();
    } else if (topic == "schema") {
        print_json(config::json_schema(table, "Weft run configuration"));
    } else if (topic == "man") {
        std::printf("%s", man_page(app.describe()).c_str());
    } else if (const config::Field* field = config::find_field(table, topic)) {
        print_field(*field, topic);
    } else if (const auto command = app.find(topic)) {
        std::printf("%s", command->help("weft").c_str());
    } else {
        print_error("there is no help on '" + shown(topic) + "'; " + kTopics);
        return kExitUsage;
    }
    return 0;
}

} // namespace

void add_help(Command app, Context& context) {
    auto topic = std::make_shared<std::string>();
    const Command command = app.subcommand("help", "explain a command or a setting");
    command.positional("TOPIC", topic.get(), kTopics);
    command.callback([topic, app, &context] { context.exit_code = print_help(app, *topic); });
}

} // namespace weft::cli
