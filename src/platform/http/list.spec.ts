import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import { ListQueryDto } from './list';

describe('the limit of a list', () => {
  const faultsOf = (limit: string) =>
    validateSync(plainToInstance(ListQueryDto, { limit })).map(({ constraints }) => constraints);

  it.each(['1', '100'])('may be %s', (limit) => {
    expect(faultsOf(limit)).toEqual([]);
  });

  const notWhole = { isInt: 'limit must be an integer number' };
  it.each([
    ['1.5', notWhole],
    ['ten', notWhole],
    ['', notWhole],
    ['1e1', notWhole],
    ['0', { min: 'limit must not be less than 1' }],
    ['-5', { min: 'limit must not be less than 1' }],
    ['101', { max: 'limit must not be greater than 100' }],
    ['99999999999', { max: 'limit must not be greater than 100' }],
  ])('is refused for its fault only: %p', (limit, fault) => {
    expect(faultsOf(limit)).toEqual([fault]);
  });
});
