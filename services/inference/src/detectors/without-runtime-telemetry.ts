/**
 * ONNX Runtime sends usage data to its maker and keeps a log open in the temporary folder unless this is set before its
 * library loads. It reads the environment of the process, so this has to run on the main thread.
 */
process.env['ORT_DISABLE_TELEMETRY'] = '1';
