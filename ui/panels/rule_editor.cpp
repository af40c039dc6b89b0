// The form writes the text, and the text's grammar alone says what is wrong: there is no second set of checks.
#include "ui/panels/rule_editor.h"

#include <QComboBox>
#include <QGridLayout>
#include <QLabel>
#include <QLineEdit>
#include <QSpinBox>
#include <QStackedWidget>

#include "engine/base/error.h"
#include "engine/telemetry/rule_text.h"
#include "ui/models/rule_list_model.h"
#include "ui/panels/panel_parts.h"
#include "ui/panels/quantity_picker.h"

namespace foxhunt::ui {
namespace {

using telemetry::RuleAction;
using telemetry::RuleKind;

constexpr int bound_page = 0, rise_page = 1, still_page = 2;

int pageOf(RuleKind kind) {
  return kind == RuleKind::rises ? rise_page : kind == RuleKind::no_progress ? still_page : bound_page;
}

QString number(double value) {
  return QString::fromStdString(fmt::format("{}", value));
}

QLineEdit* numberField(const QString& name, const QString& tip, QWidget* parent) {
  auto* field = new QLineEdit(parent);
  field->setAccessibleName(name);
  field->setToolTip(tip);
  field->setMinimumWidth(44);
  return field;
}

QSpinBox* countField(const QString& name, int least, int most, QWidget* parent) {
  auto* field = new QSpinBox(parent);
  field->setAccessibleName(name);
  field->setRange(least, most);
  field->setGroupSeparatorShown(true);
  field->setButtonSymbols(QAbstractSpinBox::NoButtons);
  field->setMinimumWidth(44);
  return field;
}

QHBoxLayout* fieldRow(QWidget* parent = nullptr) {
  auto* row = new QHBoxLayout(parent);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(6);
  return row;
}

QLabel* word(const QString& text, QWidget* parent) {
  auto* label = new QLabel(text, parent);
  label->setProperty("muted", true);
  return label;
}

}  // namespace

RuleEditor::RuleEditor(QWidget* parent) : QWidget(parent) {
  setObjectName(QStringLiteral("ruleEditor"));
  makeForm();
  connect(quantity_, &QuantityPicker::picked, this, &RuleEditor::takeForm);
  // A field that the kind before did not have begins with something that means something.
  connect(kind_, &QComboBox::activated, this, [this] {
    for (const auto& [field, first] : {std::pair(bound_, "0"), {sigmas_, "3"}, {least_, "0"}})
      if (field->text().isEmpty()) field->setText(QLatin1String(first));
  });
  for (QComboBox* box : {kind_, direction_, action_}) connect(box, &QComboBox::activated, this, &RuleEditor::takeForm);
  for (QLineEdit* field : {bound_, sigmas_, least_, cool_down_})
    connect(field, &QLineEdit::textEdited, this, &RuleEditor::takeForm);
  for (QSpinBox* field : {rise_window_, still_window_, needed_, of_})
    connect(field, &QSpinBox::valueChanged, this, &RuleEditor::takeForm);
  connect(text_, &QLineEdit::textEdited, this, [this](const QString& text) {
    if (const auto checked = telemetry::check_rule_text(text.toStdString()); checked.rule) fill(*checked.rule);
    Q_EMIT edited(text);
  });
}

void RuleEditor::makeForm() {
  auto* grid = new QGridLayout(this);
  grid->setContentsMargins(8, 4, 8, 6);
  grid->setHorizontalSpacing(8);
  grid->setVerticalSpacing(4);
  grid->setColumnStretch(1, 1);
  quantity_ = new QuantityPicker(this);
  kind_ = new QComboBox(this);
  kind_->setAccessibleName(tr("Fires when"));
  kind_->addItems({tr("is above"), tr("is below"), tr("rises by"), tr("stands still for")});
  condition_ = new QStackedWidget(this);
  condition_->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);

  auto* bound = new QWidget(condition_);
  bound_ = numberField(tr("Bound"), tr("in the unit of what it watches"), bound);
  fieldRow(bound)->addWidget(bound_, 1);
  auto* rise = new QWidget(condition_);
  QHBoxLayout* row = fieldRow(rise);
  sigmas_ = numberField(tr("Standard deviations"), tr("above the mean of the samples before"), rise);
  rise_window_ = countField(tr("Samples looked back over"), 2, 10'000, rise);
  row->addWidget(sigmas_, 1);
  row->addWidget(word(tr("σ over"), rise));
  row->addWidget(rise_window_, 1);
  auto* still = new QWidget(condition_);
  row = fieldRow(still);
  still_window_ = countField(tr("Samples without a better value"), 1, 1'000'000, still);
  least_ = numberField(tr("Least improvement"), tr("what counts as better"), still);
  direction_ = new QComboBox(still);
  direction_->setAccessibleName(tr("What is better"));
  direction_->addItems({tr("lower"), tr("higher")});
  row->addWidget(still_window_, 1);
  row->addWidget(word(tr("by"), still));
  row->addWidget(least_, 1);
  row->addWidget(direction_);
  for (QWidget* page : {bound, rise, still}) condition_->addWidget(page);

  needed_ = countField(tr("Samples that must meet it"), 1, 1'000'000, this);
  of_ = countField(tr("Of the last samples"), 1, 1'000'000, this);
  action_ = new QComboBox(this);
  action_->setAccessibleName(tr("Action"));
  for (const RuleAction action :
       {RuleAction::mark, RuleAction::notify, RuleAction::checkpoint, RuleAction::pause, RuleAction::stop})
    action_->addItem(ruleActionWord(action));
  cool_down_ = numberField(tr("Cool-down"), tr("seconds after firing in which it stays silent"), this);
  text_ = new QLineEdit(this);
  text_->setAccessibleName(tr("The rule as text"));
  text_->setObjectName(QStringLiteral("ruleText"));
  sentence_ = new QLabel(this);
  sentence_->setObjectName(QStringLiteral("ruleSentence"));
  sentence_->setWordWrap(true);
  sentence_->setTextFormat(Qt::PlainText);

  for (QComboBox* box : {kind_, direction_, action_}) box->setMinimumWidth(64);
  const auto line = [&](int at, const QString& name, const std::initializer_list<std::pair<QWidget*, int>>& widgets) {
    grid->addWidget(word(name, this), at, 0);
    QHBoxLayout* fields = fieldRow();
    for (const auto& [widget, stretch] : widgets) fields->addWidget(widget, stretch);
    grid->addLayout(fields, at, 1);
  };
  line(0, tr("Watch"), {{quantity_, 1}});
  line(1, tr("Fires if it"), {{kind_, 1}});
  line(2, {}, {{condition_, 1}});
  line(3, tr("in"), {{needed_, 1}, {word(tr("of"), this), 0}, {of_, 1}, {word(tr("samples"), this), 0}});
  line(4, tr("Then"), {{action_, 1}, {word(tr("silent for"), this), 0}, {cool_down_, 1}, {word(tr("s"), this), 0}});
  line(5, tr("Text"), {{text_, 1}});
  grid->addWidget(sentence_, 6, 1);
  grid->setRowStretch(7, 1);
}

// What is being typed stays as it is typed: the form or the text said it first.
void RuleEditor::setRule(const QString& text) {
  if (text_->text() == text) return;
  text_->setText(text);
  if (const auto checked = telemetry::check_rule_text(text.toStdString()); checked.rule) fill(*checked.rule);
}

QString RuleEditor::text() const {
  return text_->text();
}

void RuleEditor::setSentence(const QString& sentence, bool wrong) {
  sentence_->setText(sentence);
  sentence_->setStyleSheet(QStringLiteral("color: %1").arg((wrong ? theme().bad : theme().muted).name()));
}

void RuleEditor::fill(const telemetry::Rule& rule) {
  filling_ = true;
  quantity_->setQuantity(rule.source, QString::fromStdString(rule.column));
  kind_->setCurrentIndex(static_cast<int>(rule.kind));
  condition_->setCurrentIndex(pageOf(rule.kind));
  if (rule.kind == RuleKind::rises) {
    sigmas_->setText(number(rule.sigmas));
    rise_window_->setValue(rule.window);
  } else if (rule.kind == RuleKind::no_progress) {
    still_window_->setValue(rule.window);
    least_->setText(number(rule.threshold));
    direction_->setCurrentIndex(rule.lower_is_better ? 0 : 1);
  } else {
    bound_->setText(number(rule.threshold));
  }
  needed_->setValue(rule.needed);
  of_->setValue(rule.of);
  cool_down_->setText(number(rule.cool_down));
  action_->setCurrentIndex(static_cast<int>(rule.action));
  enabled_ = rule.enabled;
  filling_ = false;
}

QString RuleEditor::compose() const {
  const auto kind = static_cast<RuleKind>(kind_->currentIndex());
  QString text = QStringLiteral("%1 %2 %3")
                     .arg(QLatin1String(telemetry::rule_word(quantity_->source())), quantity_->column(),
                          QLatin1String(telemetry::rule_word(kind)));
  if (kind == RuleKind::rises) {
    text += QStringLiteral(" %1 sigma over %2").arg(sigmas_->text()).arg(rise_window_->value());
  } else if (kind == RuleKind::no_progress) {
    text +=
        QStringLiteral(" %1 by %2 %3")
            .arg(still_window_->value())
            .arg(least_->text(), direction_->currentIndex() == 0 ? QLatin1String("lower") : QLatin1String("higher"));
  } else {
    text += QStringLiteral(" %1").arg(bound_->text());
  }
  text += QStringLiteral(", %1 of %2, cool_down %3, %4")
              .arg(needed_->value())
              .arg(of_->value())
              .arg(cool_down_->text(),
                   QLatin1String(telemetry::rule_word(static_cast<RuleAction>(action_->currentIndex()))));
  return enabled_ ? text : text + QLatin1String(", off");
}

void RuleEditor::takeForm() {
  if (filling_) return;
  const auto kind = static_cast<RuleKind>(kind_->currentIndex());
  condition_->setCurrentIndex(pageOf(kind));
  const QString text = compose();
  if (text == text_->text()) return;
  text_->setText(text);
  Q_EMIT edited(text);
}

}  // namespace foxhunt::ui
