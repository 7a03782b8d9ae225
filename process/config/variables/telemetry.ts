import { z } from 'zod';
import { text, url, wholeNumber } from '../parsers.ts';
import { optional, withDefault } from '../variable.ts';

/** What it shows of itself. */
export const telemetry = {
  metricsPort: optional({
    name: 'METRICS_PORT',
    about: 'Serves /metrics in the Prometheus format on a separate port; 0 takes any free one. Not set: nothing is measured.',
    example: '9464',
    schema: wholeNumber(0, 65_535),
  }),
  metricsHost: withDefault({
    name: 'METRICS_HOST',
    about: 'The address /metrics is served on; it needs no credential, so keep it inside.',
    example: '127.0.0.1',
    fallback: '127.0.0.1',
    schema: text,
  }),
  accessLog: withDefault({
    name: 'ACCESS_LOG',
    about:
      'Which calls the API logs: failed (5xx, or longer than 15 s), all, or off. A line has route, status and time, and nothing that the caller wrote.',
    example: 'failed',
    fallback: 'failed',
    schema: z.enum(['failed', 'all', 'off'], 'must be failed, all or off'),
  }),
  otlpEndpoint: optional({
    name: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    about: 'Base URL of the OTLP collector traces are sent to (HTTP). Not set: no traces.',
    example: 'http://127.0.0.1:4318',
    schema: url('https', 'http'),
  }),
};
