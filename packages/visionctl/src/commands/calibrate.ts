import type { Command } from '../command.ts';
import { UsageError } from '../usage-error.ts';

export const calibrateCommand: Command = {
  name: 'calibrate',
  summary:
    'measure on labelled images what the scores of a detector mean: writes the calibration for scenes.json and a ' +
    'reliability diagram for each label; asks the inference service at INFERENCE_URL with INFERENCE_TOKEN',
  options: {
    labels: { value: 'file', summary: 'the labels, JSON in the COCO format', required: true },
    pictures: { value: 'directory', summary: 'directory of the images that the labels name', required: true },
    scene: { value: 'scene_code', summary: 'scene whose detector is measured, on its labels', required: true },
    registry: {
      value: 'file',
      summary: 'the registry the service runs with, SCENES_FILE or config/scenes.json by default',
    },
    name: { value: 'text', summary: 'version of the new calibration, the date by default' },
    measured: {
      value: 'text',
      summary: 'description of the images, for readers of the registry; the name of the label file by default',
    },
    floor: { value: 'score', summary: 'raw score below which no box leaves the detector; the current one by default' },
    'min-count': { value: 'number', summary: 'boxes behind each point of a curve, 40 by default' },
    out: { value: 'directory', summary: 'output directory, `calibration` by default' },
  },
  run: async (context) => {
    const url = context.settings.values['INFERENCE_URL'];
    if (url === undefined)
      throw new UsageError('INFERENCE_URL is not set: set it to the inference service to measure.');
    const { calibrate } = await import('../calibration/calibrate.ts');
    return calibrate(context, url);
  },
};
