// SPDX-License-Identifier: Apache-2.0
// weft help [TOPIC]: pages made from the option table and the field tables.
#include "app/cli/commands/commands.h"
#include "app/cli/json_output.h"
#include "app/cli/man_page.h"
#include "core/base/text.h"
#include "core/compile/config/run_config.h"
#include "core/nn/models/model_list.h"
#include "core/train/reference/reference.h"

namespace weft::cli {
namespace {

constexpr const char* kTopics =
    "topics: config (every setting), schema (JSON schema), events, commands, plan, run-folder, "
    "errors, logging (from a loop of your own), man (the manual page), a command, or a setting "
    "such as training.length";

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
std::string tensors_of_models() {
    std::string out = "\n## Tensors of each model\n\nNested layers add `layers.*`, `copies.*` and "
                      "`branches.*` to a name; factors of init.lora stand beside the weight as "
                      "`lora.a` [in, rank] and `lora.b` [rank, out].\n";
    for (const nn::ModelDef* model : nn::kModels) {
        out += "\n### " + std::string(model->name) + "\n\n";
        for (const std::string& line : split(model->tensors, '\n')) {
            out += line.empty() ? "" : "- " + line + "\n";
        }
    }
    return out;
}

/// A page of the reference as Markdown; empty: there is no such topic.
std::string page_of(const std::string& topic) {
    if (topic == "config") {
        return config::reference_page(compile::run_config_table(), "Run configuration") +
               tensors_of_models();
    }
    const train::ReferencePage* page = train::find_page(topic);
    return page == nullptr ? "" : train::to_markdown(*page);
}

int print_page(Command app, const std::string& topic, const std::string& page, bool as_man) {
    if (as_man) {
        std::printf("%s", man_page(topic, page).c_str());
        return 0;
    }
    // "plan" is a command too: what it takes, then what it prints.
    if (const auto command = app.find(topic)) {
        std::printf("%s\n", command->help("weft").c_str());
    }
    std::printf("%s", page.c_str());
    return 0;
}

int print_help(Command app, const std::string& topic, bool as_man) {
    const config::FieldTable& table = compile::run_config_table();
    if (const std::string page = page_of(topic); !page.empty()) {
        return print_page(app, topic, page, as_man);
    }
    if (as_man && !topic.empty()) {
        print_error("--man is for config, events, commands, plan, run-folder, errors and logging");
        return kExitUsage;
    }
    if (topic == "man" || as_man) {
        std::printf("%s", man_page(app.describe()).c_str());
    } else if (topic.empty()) {
        std::printf("%s\n%s\n", app.help().c_str(), kTopics);
    } else if (topic == "schema") {
        print_json(config::json_schema(table, "Weft run configuration"));
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
    struct Wanted {
        std::string topic;
        bool as_man = false;
    };
    auto wanted = std::make_shared<Wanted>();
    const Command command = app.subcommand("help", "explain a command or a setting");
    command.positional("TOPIC", &wanted->topic, kTopics);
    command.flag("--man", &wanted->as_man, "as a manual page, for man -l");
    command.callback([wanted, app, &context] {
        context.exit_code = print_help(app, wanted->topic, wanted->as_man);
    });
}

} // namespace weft::cli
