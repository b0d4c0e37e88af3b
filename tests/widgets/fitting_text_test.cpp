// SPDX-License-Identifier: GPL-3.0-or-later
// Texts with too little room can still be told apart.
#include "tests/support/weft_test.h"
#include "widgets/look/fitting_text.h"

#include <QApplication>
#include <QFontMetricsF>
#include <QSet>

using weft::widgets::elidedApart;

class FittingTextTest : public QObject {
    Q_OBJECT

private slots:
    void what_has_room_is_written_in_full() {
        const QStringList texts{"adamw", "sgd"};
        QCOMPARE(elidedApart(texts, font_, 500), texts);
    }

    void what_has_none_loses_its_middle() {
        const QString path = "/home/somebody/data/houses.csv";
        const QString shown = elidedApart({path}, font_, width(path) / 2).front();
        QVERIFY(shown.startsWith('/') && shown.endsWith('v'));
        QVERIFY(shown.contains(QChar(0x2026)));
        QVERIFY(width(shown) <= width(path) / 2);
    }

    void different_texts_never_look_the_same_data() {
        QTest::addColumn<QStringList>("texts");
        QTest::newRow("in the middle") << QStringList{"/data/clothes-of-2024/train-00.idx",
                                                      "/data/clothes-of-2025/train-00.idx"};
        QTest::newRow("one letter more") << QStringList{"validation/accuracy_of_all_classes",
                                                        "validation/accuracy__of_all_classes"};
        QTest::newRow("many") << QStringList{"warmup_cosine, warmup_steps 100, end_factor 0.1",
                                             "warmup_cosine, warmup_steps 200, end_factor 0.1",
                                             "warmup_cosine, warmup_steps 300, end_factor 0.1",
                                             "constant"};
        QTest::newRow("in two places")
            << QStringList{"aaaaaaaaaaaaaaa1aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1aaaaaaaaaaaaaaa",
                           "aaaaaaaaaaaaaaa2aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1aaaaaaaaaaaaaaa",
                           "aaaaaaaaaaaaaaa1aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa2aaaaaaaaaaaaaaa"};
    }

    void different_texts_never_look_the_same() {
        QFETCH(QStringList, texts);
        for (const double room :
             {width("wwwwww"), width("wwwwwwwwww"), width("wwwwwwwwwwwwwwww")}) {
            const QStringList shown = elidedApart(texts, font_, room);
            QCOMPARE(QSet<QString>(shown.begin(), shown.end()).size(), texts.size());
            for (const QString& text : shown) {
                QVERIFY2(width(text) <= room, qPrintable(text));
            }
        }
    }

    void equal_texts_look_the_same() {
        const QString text = "a setting that is far too long for its place";
        const QStringList shown = elidedApart({text, text}, font_, width("wwwwww"));
        QCOMPARE(shown[0], shown[1]);
    }

private:
    double width(const QString& text) const { return QFontMetricsF(font_).horizontalAdvance(text); }

    const QFont font_ = QApplication::font();
};

WEFT_TEST(FittingTextTest)
#include "fitting_text_test.moc"
