// SPDX-License-Identifier: GPL-3.0-or-later
// The program text of a graph model: shown, edited, with what is wrong marked at its line. Hidden
// for other models.
#pragma once

#include "core/ir/model_text.h"
#include "ui/bridge/draft/model_outline.h"
#include "ui/forms/form_source.h"
#include "widgets/controls/card.h"

#include <QTextEdit>
#include <QTimer>

class QPlainTextEdit;

namespace weft::widgets {
class TextLabel;
}

namespace weft::ui {

class ModelTextPanel : public widgets::Surface {
    Q_OBJECT
public:
    ModelTextPanel(FormSource& source, QWidget* parent = nullptr);

    /// What the data made of the model; null: not known.
    void setOutline(std::shared_ptr<const ModelOutline> outline);
    /// Puts the cursor where the problem is, or at the start.
    void showProblem();

protected:
    void changeEvent(QEvent* event) override;

private:
    void follow();
    void takeEdit();
    void mark();
    QTextEdit::ExtraSelection underlined(const ir::TextPlace& place) const;
    /// What is wrong, beginning with its line; empty: nothing.
    QString problem() const;
    void applyTheme();

    FormSource& source_;
    std::shared_ptr<const ModelOutline> outline_;
    widgets::SectionHeader* header_;
    QPlainTextEdit* editor_;
    QWidget* foot_;
    widgets::TextLabel* problem_;
    QTimer settle_;
};

/// Whether the draft's model is one of program text.
bool hasModelText(const FormSource& source);

} // namespace weft::ui
