import { startTelemetry } from '@vision/shared/telemetry';

startTelemetry({ name: 'gateway', edge: true });
