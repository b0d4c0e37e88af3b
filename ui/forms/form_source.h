// SPDX-License-Identifier: GPL-3.0-or-later
// What forms show and change: the draft against the engine's field table. Values are those of the
// document, else the table's defaults; every change is an edit of the draft, with undo.
#pragma once

#include "ui/bridge/draft/draft.h"

#include <QObject>

#include <string>

namespace weft::ui {

class FormSource : public QObject {
    Q_OBJECT
public:
    /// Of the whole table of a run.
    explicit FormSource(Draft& draft, QObject* parent = nullptr);

    const Draft& draft() const { return draft_; }
    /// False while the text of the draft is no JSON: there is nothing that a form could change
    /// without losing what was written.
    bool isEditable() const { return draft_.document().is_object(); }
    /// The field of a pointer as the document stands (which type a record has); null: none.
    const config::Field* field(const std::string& pointer) const;
    /// What the document says; null: nothing, the default counts.
    const config::Json* given(const std::string& pointer) const;
    /// What counts: what the document says, else the default.
    config::Json value(const std::string& pointer, const config::Field& field) const;
    /// The document says something other than the default.
    bool isChanged(const std::string& pointer, const config::Field& field) const;
    /// Of this pointer itself, and of those below it when `below`.
    config::Diagnostics problems(const std::string& pointer, bool below = false) const;

    /// Sets one field; a list of which only the default is there is written out first. Changes one
    /// after the other with the same `merge` are one step of undo.
    void set(const std::string& pointer, const config::Json& value, const QString& merge = {});
    /// Back to the default: the field leaves the document.
    void reset(const std::string& pointer);
    /// What follows is another step of undo.
    void endMerge() { draft_.endMerge(); }

signals:
    void changed();

private:
    void renew();

    Draft& draft_;
    config::Json normal_; // the document with every default filled in
};

/// The parts of a JSON pointer, unescaped.
std::vector<std::string> pointerParts(const std::string& pointer);

} // namespace weft::ui
