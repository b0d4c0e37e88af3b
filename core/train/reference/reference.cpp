// SPDX-License-Identifier: Apache-2.0
#include "core/train/reference/reference.h"

#include <algorithm>
#include <array>

namespace weft::train {
namespace {

/// Bars end a cell of a table.
std::string cell(std::string_view words) {
    std::string out;
    for (const char letter : words) {
        out += letter == '|' ? "\\|" : std::string(1, letter);
    }
    return out;
}

} // namespace

const ReferenceSection* ReferencePage::find(std::string_view section) const {
    const auto found = std::find_if(sections.begin(), sections.end(),
                                    [&](const auto& one) { return one.title == section; });
    return found == sections.end() ? nullptr : &*found;
}

std::span<const ReferencePage* const> reference_pages() {
    static const std::array kPages = {&events_page(),     &commands_page(), &plan_page(),
                                      &run_folder_page(), &errors_page(),   &logging_page()};
    return kPages;
}

const ReferencePage* find_page(std::string_view topic) {
    const auto pages = reference_pages();
    const auto found = std::find_if(pages.begin(), pages.end(), [&](const ReferencePage* page) {
        return page->topic == topic;
    });
    return found == pages.end() ? nullptr : *found;
}

std::string to_markdown(const ReferencePage& page) {
    std::string out = "# " + std::string(page.title) + "\n\n" + std::string(page.text) + "\n";
    for (const ReferenceSection& section : page.sections) {
        out += "\n## " + std::string(section.title) + "\n\n";
        if (!section.text.empty()) {
            out += std::string(section.text) + "\n";
        }
        if (section.names.empty()) {
            continue;
        }
        out += section.text.empty() ? "" : "\n";
        const bool typed =
            std::any_of(section.names.begin(), section.names.end(),
                        [](const ReferenceName& name) { return !name.type.empty(); });
        out += typed ? "| Name | Type | Meaning |\n| --- | --- | --- |\n"
                     : "| Name | Meaning |\n| --- | --- |\n";
        for (const ReferenceName& name : section.names) {
            out += "| `" + std::string(name.name) + "` | " +
                   (typed ? cell(name.type) + " | " : std::string()) + cell(name.meaning) + " |\n";
        }
    }
    return out;
}

} // namespace weft::train
