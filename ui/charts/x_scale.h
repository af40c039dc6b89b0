// How the x of a series (its step) is shown: step, epoch, wall or active time, market date, or steps within a fold.
#pragma once

#include <QString>
#include <cstddef>
#include <memory>
#include <vector>

#include "ui/charts/ticks.h"

namespace foxhunt::ui {

// toDisplay is non-decreasing over all x; positions on screen are linear in its result.
class XScale {
 public:
  virtual ~XScale() = default;
  virtual QString name() const = 0;
  virtual double toDisplay(double x) const = 0;
  // The smallest x that is shown at `display`.
  virtual double fromDisplay(double display) const = 0;
  // Of a display value, as the crosshair shows it.
  virtual QString format(double display) const = 0;
  virtual std::vector<Tick> ticks(double low, double high, int most) const = 0;
};

// x as it is: "79,412".
class StepScale : public XScale {
 public:
  explicit StepScale(QString name) : name_(std::move(name)) {}
  QString name() const override { return name_; }
  double toDisplay(double x) const override { return x; }
  double fromDisplay(double display) const override { return display; }
  QString format(double display) const override;
  std::vector<Tick> ticks(double low, double high, int most) const override;

 private:
  QString name_;
};

// Piecewise linear through known pairs (x, display); beyond them the outer slope goes on. Serves epoch (number),
// wall time and market date (seconds since 1970 UTC), active time (seconds, pauses cut out).
class AnchoredScale : public XScale {
 public:
  enum class Unit { number, date, duration };
  AnchoredScale(QString name, Unit unit) : name_(std::move(name)), unit_(unit) {}

  // Throws Error unless x is above and display not below those of the last pair.
  void addAnchor(double x, double display);
  QString name() const override { return name_; }
  double toDisplay(double x) const override;
  double fromDisplay(double display) const override;
  QString format(double display) const override;
  std::vector<Tick> ticks(double low, double high, int most) const override;

 private:
  QString name_;
  Unit unit_;
  std::vector<double> xs_, displays_;
};

// Positions are steps; labels count from the start of the fold they lie in: "F2 +4k".
class FoldScale : public XScale {
 public:
  // First step of each fold, ascending; the first is fold `first_number`.
  FoldScale(QString name, std::vector<double> starts, int first_number = 1)
      : name_(std::move(name)), starts_(std::move(starts)), first_(first_number) {}
  QString name() const override { return name_; }
  double toDisplay(double x) const override { return x; }
  double fromDisplay(double display) const override { return display; }
  QString format(double display) const override;
  std::vector<Tick> ticks(double low, double high, int most) const override;

 private:
  QString name_;
  std::vector<double> starts_;
  int first_;
};

}  // namespace foxhunt::ui
