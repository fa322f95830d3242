package link

import (
	"fmt"
	"image"
	"image/color"
	"strings"
	"testing"

	"github.com/makiuchi-d/gozxing"
	"github.com/makiuchi-d/gozxing/qrcode"
	"github.com/stretchr/testify/require"
)

// paint draws a code's path as a browser does, each module as a square of pixels.
func paint(t *testing.T, q *QR) image.Image {
	t.Helper()
	const pixels = 4
	img := image.NewGray(image.Rect(0, 0, q.Size*pixels, q.Size*pixels))
	for i := range img.Pix {
		img.Pix[i] = 255
	}
	for run := range strings.SplitSeq(strings.TrimSuffix(q.Path, "z"), "z") {
		var x, y, n, back int
		_, err := fmt.Sscanf(run, "M%d %dh%dv1h-%d", &x, &y, &n, &back)
		require.NoError(t, err, run)
		require.Equal(t, n, back, run)
		for px := x * pixels; px < (x+n)*pixels; px++ {
			for py := y * pixels; py < (y+1)*pixels; py++ {
				img.SetGray(px, py, color.Gray{})
			}
		}
	}
	return img
}

func TestCodeIsReadAsTheText(t *testing.T) {
	for _, text := range []string{
		"http://127.0.0.1:8080/rooms/integration/link/ABCDEFGHIJKLMNOPQRSTUVWXYZ",
		"https://wait.example/rooms/stock:item:" + strings.Repeat("4", 90) + "/link/ABCDEFGHIJKLMNOPQRSTUVWXYZ",
	} {
		q, err := Draw(text)
		require.NoError(t, err)
		bitmap, err := gozxing.NewBinaryBitmapFromImage(paint(t, q))
		require.NoError(t, err)
		read, err := qrcode.NewQRCodeReader().Decode(bitmap, nil)
		require.NoError(t, err)
		require.Equal(t, text, read.GetText())
	}
	_, err := Draw(strings.Repeat("x", 3000))
	require.Error(t, err)
}
