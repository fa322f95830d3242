package doctor

import "strings"

// frames checks the sites that may show a seller's page in a frame, and whether the page can work there.
func (d *doctor) frames(about string) {
	if len(d.FrameAncestors) == 0 {
		return
	}
	if d.SellersProven {
		d.warn(about, "Have the portal and waitroom below one domain, or have the portal's page use "+
			"the module with a token (docs/embed.md).",
			"With WAITROOM_SELLER_AUTH=jwt a page in a frame on another site does not know its seller: "+
				"browsers send no cookie there.")
	}
	for _, origin := range d.FrameAncestors {
		if strings.HasPrefix(origin, "http://") && strings.HasPrefix(d.PublicURL, "https://") {
			d.warn(about, "Serve the page that has the frame by https.",
				"WAITROOM_FRAME_ANCESTORS names %s: without https anyone on the way can put anything "+
					"around the page.", origin)
		}
	}
}
