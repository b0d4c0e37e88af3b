// SPDX-License-Identifier: Apache-2.0
// The names that other programs script against, with their meaning: one page each for events,
// commands, the plan, the folder of a run, errors, and what other programs log. `weft help TOPIC`,
// the manual pages and F1 in the studio show them; tests hold them against what is really written.
// Settings are not here: their page is made from the field tables (config::reference_page).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft::train {

struct ReferenceName {
    std::string_view name; // a key, "devices[].ids" for one of each entry of a list; a file; a word
    std::string_view type; // of its value; empty: it has none
    std::string_view meaning;
};

struct ReferenceSection {
    std::string_view title;
    std::string_view text;
    std::vector<ReferenceName> names;
};

struct ReferencePage {
    std::string_view topic; // "events"
    std::string_view title;
    std::string_view text;
    std::vector<ReferenceSection> sections;

    const ReferenceSection* find(std::string_view section) const;
};

const ReferencePage& events_page();
const ReferencePage& commands_page();
const ReferencePage& plan_page();
const ReferencePage& run_folder_page();
const ReferencePage& errors_page();
const ReferencePage& logging_page();

/// All of them, in the order in which one reads.
std::span<const ReferencePage* const> reference_pages();
/// Null: there is no such topic.
const ReferencePage* find_page(std::string_view topic);

/// Headings and tables, as config::reference_page writes them.
std::string to_markdown(const ReferencePage& page);

} // namespace weft::train
