import { type DataPoint, MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics';

/** A reader that exports when it is told to. */
class OnDemandReader extends MetricReader {
  protected async onShutdown(): Promise<void> {}
  protected async onForceFlush(): Promise<void> {}
}

/** What was exported of one instrument. */
export interface Exported {
  readonly type: string;
  readonly unit: string;
  readonly description: string;
  /** By its attributes, as JSON with names in order. */
  readonly points: ReadonlyMap<string, unknown>;
}

/** An SDK, and a look at what it would export now. */
export function startSdk(): {
  readonly provider: MeterProvider;
  collect(): Promise<ReadonlyMap<string, Exported>>;
} {
  const reader = new OnDemandReader();
  const provider = new MeterProvider({ readers: [reader] });
  return {
    provider,
    async collect() {
      const { resourceMetrics, errors } = await reader.collect();
      if (errors.length > 0) throw errors[0];
      const metrics = resourceMetrics.scopeMetrics.flatMap((scope) => scope.metrics);
      return new Map(
        metrics.map(({ descriptor, dataPoints, ...data }) => {
          const { name, unit, description } = descriptor;
          const isUpDown = 'isMonotonic' in data && !data.isMonotonic;
          const type = isUpDown ? 'UP_DOWN_COUNTER' : TYPES[data.dataPointType];
          const points = new Map(
            (dataPoints as DataPoint<unknown>[]).map(({ attributes, value }) => [
              JSON.stringify(attributes, Object.keys(attributes).sort()),
              value,
            ]),
          );
          return [name, { type: type ?? '', unit, description, points }];
        }),
      );
    },
  };
}

/** By `DataPointType`. */
const TYPES = ['HISTOGRAM', 'EXPONENTIAL_HISTOGRAM', 'GAUGE', 'COUNTER'];
