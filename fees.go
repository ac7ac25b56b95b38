package bourse

// MaxFeeLevels bounds the levels of a schedule.
const MaxFeeLevels = 32

// FeeSchedule bounds the fee rates of accounts by their volume. Level n is Levels[n], and
// every account without volume has level 0.
type FeeSchedule struct {
	// VolumeAsset is the asset that volumes are counted in.
	VolumeAsset AssetID
	// Levels rise by volume. The first one needs none.
	Levels []FeeLevel
}

// FeeLevel is a level of a schedule.
type FeeLevel struct {
	// Volume is the least volume, in ledger units of the volume asset.
	Volume Amount
	// Maker and Taker bound the rates of the markets. They are below RateOne.
	Maker, Taker Rate
}

// Level returns the highest level that a volume reaches.
func (s *FeeSchedule) Level(volume Amount) uint8 {
	level := 0
	for level+1 < len(s.Levels) && !volume.Less(s.Levels[level+1].Volume) {
		level++
	}
	return uint8(level)
}

// Bound returns the lesser of each rate and its bound at a level. A level above the last
// one counts as the last one. A nil schedule bounds nothing.
func (s *FeeSchedule) Bound(level uint8, maker, taker Rate) (Rate, Rate) {
	if s == nil {
		return maker, taker
	}
	l := &s.Levels[min(int(level), len(s.Levels)-1)]
	return min(maker, l.Maker), min(taker, l.Taker)
}
