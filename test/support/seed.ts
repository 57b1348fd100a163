import fc from 'fast-check';

/**
 * The same cases at each run, so that a red test is about the change; `OURO_TEST_SEED=random` looks for new ones,
 * and any number repeats what a run found.
 */
const { OURO_TEST_SEED = '1' } = process.env;

if (OURO_TEST_SEED !== 'random') fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(OURO_TEST_SEED) });
