// SPDX-License-Identifier: GPL-3.0-or-later
// The pages that edit a draft, in large and small windows and with large text: no control reaches
// past the edge of what it stands in, and each is as wide as it needs.
#include "core/train/run_folder.h"
#include "tests/support/weft_test.h"
#include "tests/ui/small_gpt.h"
#include "tests/ui/studio_fixture.h"
#include "ui/plurals.h"
#include "widgets/figure_strip.h"

#include <QAbstractButton>
#include <QAbstractItemView>
#include <QAbstractSpinBox>
#include <QComboBox>
#include <QLineEdit>
#include <QScrollArea>

#include <fstream>

namespace {

using namespace weft;

bool is_control(const QWidget* widget) {
    return qobject_cast<const QAbstractButton*>(widget) != nullptr ||
           qobject_cast<const QLineEdit*>(widget) != nullptr ||
           qobject_cast<const QComboBox*>(widget) != nullptr ||
           qobject_cast<const QAbstractSpinBox*>(widget) != nullptr ||
           qobject_cast<const widgets::FigureStrip*>(widget) != nullptr;
}

QString name_of(const QWidget* widget) {
    QStringList out;
    for (const QWidget* at = widget; at != nullptr && out.size() < 4; at = at->parentWidget()) {
        out << (at->objectName().isEmpty() ? at->metaObject()->className() : at->objectName());
    }
    return out.join(" in ");
}

/// The other part of a scroll area is reached by scrolling; sideways only where it has a bar.
bool scrolls(const QWidget* viewport, Qt::Orientation direction) {
    const auto* area = qobject_cast<const QAbstractScrollArea*>(viewport->parentWidget());
    return area != nullptr && area->viewport() == viewport &&
           (direction == Qt::Vertical ||
            area->horizontalScrollBarPolicy() != Qt::ScrollBarAlwaysOff);
}

/// Where a control sticks out of what it stands in; empty: nowhere.
QString cut_off(const QWidget* control, const QWidget* page) {
    bool across = true;
    bool down = true;
    for (const QWidget* around = control->parentWidget(); around != page->parentWidget();
         around = around->parentWidget()) {
        const QRect place(control->mapTo(around, QPoint(0, 0)), control->size());
        across = across && !scrolls(around, Qt::Horizontal);
        down = down && !scrolls(around, Qt::Vertical);
        if ((across && (place.left() < 0 || place.right() >= around->width())) ||
            (down && (place.top() < 0 || place.bottom() >= around->height()))) {
            return QString("%1 ends at %2, %3 of %4 x %5 in %6")
                .arg(name_of(control))
                .arg(place.right())
                .arg(place.bottom())
                .arg(around->width())
                .arg(around->height())
                .arg(name_of(around));
        }
    }
    return {};
}

/// A run that stopped, whose figures take as much room as they usually do.
void write_run(const std::filesystem::path& folder) {
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "config.json") << test::tiny_config();
    train::RunInfo info;
    info.name = "fashion-mlp";
    info.model = "mlp";
    info.data = "Fashion-MNIST, 60,000 images of 28x28";
    info.state = "stopped";
    train::write_run_info(folder, info);
    train::StateEvent stopped;
    stopped.state = train::RunState::stopped;
    stopped.total_steps = 100000;
    train::StepEvent step;
    step.step = 99999;
    step.loss = 0.268;
    std::ofstream(folder / "events.jsonl")
        << train::to_line({1, 100.0, stopped}) << "\n"
        << train::to_line({2, 3500.0, step}) << "\n"
        << train::to_line({3, 3500.0, train::EvaluationEvent{99999, {{"validation/loss", 0.268}}}})
        << "\n";
}

QStringList faults(const QWidget* page) {
    QStringList out;
    for (const auto* control : page->findChildren<QWidget*>()) {
        if (!control->isVisible() || !is_control(control) ||
            qobject_cast<const QAbstractItemView*>(control->parentWidget()) != nullptr) {
            continue;
        }
        if (const QString cut = cut_off(control, page); !cut.isEmpty()) {
            out << cut;
        }
        const auto* button = qobject_cast<const QAbstractButton*>(control);
        const bool icon = button != nullptr && button->text().isEmpty(); // as large as it is made
        if (!icon && control->width() < control->minimumSizeHint().width()) {
            out << QString("%1 has %2 of %3 px")
                       .arg(name_of(control))
                       .arg(control->width())
                       .arg(control->minimumSizeHint().width());
        }
    }
    return out;
}

} // namespace

class FitTest : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() { ui::installEnglishPlurals(*QCoreApplication::instance()); }
    void init() { QTest::failOnWarning(QRegularExpression("^(?!This plugin does not support)")); }

    void no_control_is_cut_off_data() {
        QTest::addColumn<QString>("page");
        QTest::addColumn<QSize>("size");
        QTest::addColumn<double>("text");
        for (const char* page : {"home", "data", "model", "training"}) {
            for (const QSize size : {QSize(1440, 900), QSize(1024, 680)}) {
                for (const double text : {1.0, widgets::kLargestText}) {
                    QTest::addRow("%s %d %g", page, size.width(), text)
                        << QString(page) << size << text;
                }
            }
        }
    }

    void no_control_is_cut_off() {
        QFETCH(QString, page);
        QFETCH(QSize, size);
        QFETCH(double, text);
        test::StudioFixture fixture;
        write_run(fixture.root() / "runs" / "2026-01-01_fashion-mlp_001");
        fixture.studio().index().refresh();
        QTRY_COMPARE_WITH_TIMEOUT(fixture.studio().index().runs().size(), std::size_t{1}, 30000);
        ui::Preferences preferences = fixture.studio().settings().values();
        preferences.font_scale = text;
        QCOMPARE(fixture.studio().settings().set(preferences), QString());
        fixture.window().resize(size);
        config::Json document = test::small_gpt(R"({"devices": "cpu"})");
        document["optimizer"] = {{"type", "adamw"},
                                 {"groups",
                                  {{{"match", "*.bias"}, {"weight_decay", 0.0}},
                                   {{"match", "*norm*"}, {"learning_rate", 0.5}}}}};
        document["lr_schedule"] = {{"type", "warmup_cosine"}, {"warmup_steps", 10}};
        fixture.studio().draft().setDocument(document, fixture.root());
        QVERIFY(fixture.studio().draft().isValid());
        fixture.window().showPage(page);
        // Layouts follow each other in turns of the loop; what is read in the background comes
        // late.
        const QWidget* shown = fixture.window().page(page);
        QStringList found;
        QVERIFY2(QTest::qWaitFor(
                     [&] {
                         found = faults(shown);
                         return found.isEmpty();
                     },
                     3000),
                 qPrintable("\n" + found.join('\n')));
        QCOMPARE(fixture.window().size(), size);
    }
};

WEFT_TEST(FitTest)
#include "fit_test.moc"
