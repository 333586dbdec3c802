import { faultsOfFeature } from './feature';

const METER = 'meter_01h455vb4pex5vsknk084sn02q';

describe('the terms of an entitlement', () => {
  it.each([
    ['boolean', null, [], []],
    ['static', null, [], []],
    ['metered', null, [80], []],
    ['metered', METER, [], []],
    ['boolean', METER, [], ['/meter_id']],
    ['static', METER, [80], ['/meter_id', '/thresholds']],
    ['boolean', null, [80], ['/thresholds']],
  ] as const)(
    'of type %s with the meter %s and the thresholds %j: faults %j',
    (type, meterId, thresholds, pointers) => {
      const faults = faultsOfFeature({ type, meterId, thresholds });
      expect(faults.map(({ pointer }) => pointer)).toEqual(pointers);
    },
  );
});
