#!/usr/bin/env node
// Batch size against accuracy: a small network on CIFAR-10, the same epochs with every batch size, once with the learning
// rate as it is and once scaled with the batch size. Writes batch_accuracy.json after each training.
//
//   slides/results/sweep_batch_size.mjs --help
import { parseArgs } from 'node:util';
import { spread, train, writeResult } from './training.mjs';

const help = `slides/results/sweep_batch_size.mjs [flags]: test accuracy by batch size, into slides/results/batch_accuracy.json.
  --sizes N,N,...   batch sizes (16,64,256,512,1024,2048)
  --epoch N         epochs of each training (5)
  --fraction F      the part of the data to train and to test on (0.25)
  --model NAME      the network (mid); tiny takes a twentieth of the time, and learns less
  --learnrate R     the learning rate at a batch size of 64 (0.05)
  --seeds N         training runs of each kind (5); a round is finished before the next begins
  --dataset NAME    cifar10, or a folder with it in its binary format
  --copies          that folder holds JPEG copies of the pictures, not the archive's own: said in the result
Training runs that have ended are kept in out/slides/measured, and not repeated with the same flags. About two hours on one core.`;

const { values: flags } = parseArgs({ options: {
  sizes: { type: 'string', default: '16,64,256,512,1024,2048' }, epoch: { type: 'string', default: '5' },
  fraction: { type: 'string', default: '0.25' }, seeds: { type: 'string', default: '5' },
  model: { type: 'string', default: 'mid' }, learnrate: { type: 'string', default: '0.05' },
  dataset: { type: 'string', default: 'cifar10' }, copies: { type: 'boolean' }, help: { type: 'boolean' } } });
if (flags.help) {
  console.log(help);
  process.exit();
}

const base = { batchsize: 64, learnrate: Number(flags.learnrate) };
const sizes = flags.sizes.split(',').map(Number);
const kinds = sizes.flatMap((batchsize) => [
  { batchsize, scaled: false, learnrate: base.learnrate },
  ...(batchsize === base.batchsize ? [] : [{ batchsize, scaled: true, learnrate: base.learnrate * batchsize / base.batchsize }]),
]);

/** Test accuracy after each epoch. */
function accuracies({ batchsize, learnrate }, seed) {
  const result = train(`sweep/${flags.model}_batch_${batchsize}_rate_${learnrate}_seed_${seed}`,
    ['single_gpu', '--dataset', flags.dataset, '--model', flags.model, '--device', 'cpu', '--batchsize', batchsize, '--learnrate', learnrate,
      '--epoch', flags.epoch, '--fraction', flags.fraction, '--seed', seed], { keep: true });
  return { result, accuracy: result.log.map((epoch) => epoch['validation/main/accuracy']) };
}

const runs = kinds.map((kind) => ({ ...kind, accuracy: [] }));
for (let seed = 0; seed < Number(flags.seeds); ++seed) {
  for (const run of runs) {
    const { result, accuracy } = accuracies(run, seed);
    run.accuracy.push(accuracy);
    run.last = spread(run.accuracy.map((epochs) => epochs.at(-1)));
    console.log(`seed ${seed}, batch size ${run.batchsize}, learning rate ${run.learnrate}: ${accuracy.at(-1)}`);
    writeResult('batch_accuracy', {
      machine: result.machine, date: result.date,
      command: `slides/results/sweep_batch_size.mjs --model ${flags.model} --learnrate ${flags.learnrate} --sizes ${flags.sizes} --epoch ${flags.epoch} --fraction ${flags.fraction} --seeds ${seed + 1}`,
      ...((run !== runs.at(-1)) && { stopped: true }),  // in the middle of a round: points have different numbers of runs
      dataset: flags.copies ? 'CIFAR-10 (JPEG copies)' : 'CIFAR-10', model: result.network, n_images: result.images / result.epochs,
      epoch: result.epochs, base, seeds: seed + (run === runs.at(-1)), runs: runs.filter((one) => one.accuracy.length),
    });
  }
}
