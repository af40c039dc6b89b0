// The family `telemetry`: signal bus, HealthDiag, publication and the NaN search.
#pragma once

#include "kernels/health.h"
#include "kernels/telemetry_batch.h"
#include "kernels/telemetry_nan.h"
#include "kernels/telemetry_publish.h"
#include "kernels/telemetry_signals.h"
