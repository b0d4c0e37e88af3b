// SPDX-License-Identifier: Apache-2.0
#include "core/store/xml.h"

#include <expat.h>

#include <memory>

namespace weft::store {
namespace {

constexpr int kDeepestElement = 16;

struct XmlReading {
    XML_Parser parser = nullptr;
    std::string group;
    XmlTexts out;
    std::string text;
    int depth = 0;
    int group_depth = 0; // 0: outside
};

void on_element(void* data, const XML_Char* name, const XML_Char**) {
    auto& reading = *static_cast<XmlReading*>(data);
    if (++reading.depth > kDeepestElement) {
        XML_StopParser(reading.parser, XML_FALSE);
        return;
    }
    if (reading.depth == 1) {
        reading.out.root = name;
    } else if (reading.group_depth == 0 && reading.group == name) {
        reading.group_depth = reading.depth;
        reading.out.groups.emplace_back();
    }
    reading.text.clear();
}

void on_text(void* data, const XML_Char* text, int length) {
    static_cast<XmlReading*>(data)->text.append(text, static_cast<std::size_t>(length));
}

void on_end(void* data, const XML_Char* name) {
    auto& reading = *static_cast<XmlReading*>(data);
    if (reading.depth == reading.group_depth) {
        reading.group_depth = 0;
    } else {
        XmlTexts::Record& record =
            reading.group_depth > 0 ? reading.out.groups.back() : reading.out.rest;
        record.try_emplace(name, std::move(reading.text));
    }
    reading.text.clear();
    --reading.depth;
}

// A store has no use for document types, and entities come with them.
void on_document_type(void* data, const XML_Char*, const XML_Char*, const XML_Char*, int) {
    XML_StopParser(static_cast<XmlReading*>(data)->parser, XML_FALSE);
}

} // namespace

std::optional<XmlTexts> read_xml(std::string_view document, std::string_view group) {
    const std::unique_ptr<XML_ParserStruct, decltype(&XML_ParserFree)> parser(
        XML_ParserCreate(nullptr), &XML_ParserFree);
    XmlReading reading;
    reading.parser = parser.get();
    reading.group = group;
    XML_SetUserData(parser.get(), &reading);
    XML_SetElementHandler(parser.get(), on_element, on_end);
    XML_SetCharacterDataHandler(parser.get(), on_text);
    XML_SetStartDoctypeDeclHandler(parser.get(), on_document_type);
    const XML_Status status =
        XML_Parse(parser.get(), document.data(), static_cast<int>(document.size()), 1);
    return status == XML_STATUS_OK ? std::optional(std::move(reading.out)) : std::nullopt;
}

std::string xml_escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
        out += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string(1, c);
    }
    return out;
}

} // namespace weft::store
