// SPDX-License-Identifier: Apache-2.0
// The XML that stores answer with, over expat. Hostile input: no entities are defined, depth and
// size are limited. For object_store.cpp only.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft::store {

/// The texts of elements by their names, in the order of the document; those within an element of
/// `group` as one record each, the others in `rest`. Names without namespaces.
struct XmlTexts {
    using Record = std::map<std::string, std::string>;
    std::string root;
    std::vector<Record> groups;
    Record rest;
};
/// Nothing when it is no well-formed document.
std::optional<XmlTexts> read_xml(std::string_view document, std::string_view group);

/// With &, < and > escaped.
std::string xml_escaped(std::string_view text);

} // namespace weft::store
