import { Body, Controller, Post, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { ProblemError, referenceNotFound, tooManyReports } from '../../../platform/errors';
import { Operation, sendLines } from '../../../platform/http';
import { priceTermsContradict } from '../../catalog';
import { simulatedPriceUnmatched, type SimulationStep } from '../../invoicing';
import { usagePeriodEmpty } from '../../metering';
import { meterBackfilling } from '../../meters';
import { SIMULATION_LINES } from '../dto/simulation-line.dto';
import {
  SimulatePricesDto,
  toProblemLine,
  toSimulationCommand,
  toSimulationLine,
} from '../dto/simulate-prices.dto';
import { SimulatePricesWorkflow } from './simulate-prices.workflow';

@ApiTags('Plans')
@Controller('v1/prices/simulations')
export class SimulationsController {
  constructor(private readonly simulating: SimulatePricesWorkflow) {}

  @Post()
  @Operation({
    summary: 'Simulate a change of prices',
    description:
      'Rates the billed lines of a plan again, at other prices, and changes nothing. Discounts, refunds and credit notes ' +
      'stay as they were made. The answer consists of lines of JSON: `customer` with amounts before discounts and tax, ' +
      '`progress`, and at the end `totals`, or `problem` if an amount is too large, a billed price does not match or events ' +
      'are archived. If the last line is neither, it was cut off.',
    access: 'invoices:read',
    lines: SIMULATION_LINES,
    reads: 'body',
    problems: [
      referenceNotFound,
      meterBackfilling,
      priceTermsContradict,
      simulatedPriceUnmatched,
      usagePeriodEmpty,
      tooManyReports,
    ],
  })
  async simulatePrices(@Body() body: SimulatePricesDto, @Res() response: Response): Promise<void> {
    const steps = await this.simulating.simulate(toSimulationCommand(body));
    await sendLines(response, toLines(steps));
  }
}

async function* toLines(steps: AsyncIterable<SimulationStep>): AsyncGenerator<object> {
  try {
    for await (const step of steps) yield toSimulationLine(step);
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error;
    yield toProblemLine(error);
  }
}
