import { OutcomeUnknownError } from '../../../platform/database';
import { serviceUnavailable } from '../../../platform/errors';
import { joinParts } from './append-outcome';

const stored = { accepted: 2, notStored: [] };
const nothing = { accepted: 0, notStored: [] };

describe('a request whose parts are written apart', () => {
  const refusal = serviceUnavailable('The part was refused.');

  it('has an unknown outcome if a part was refused after another was stored', async () => {
    const parts = [Promise.resolve(stored), Promise.reject(refusal)];
    await expect(joinParts(parts)).rejects.toBeInstanceOf(OutcomeUnknownError);
  });

  it('is refused if nothing was stored', async () => {
    const parts = [Promise.resolve(nothing), Promise.reject(refusal)];
    await expect(joinParts(parts)).rejects.toBe(refusal);
  });

  it('fails with the defect that a part met', async () => {
    const defect = new TypeError('undefined is not a function');
    const parts = [Promise.resolve(stored), Promise.reject(defect)];
    await expect(joinParts(parts)).rejects.toBe(defect);
  });
});
